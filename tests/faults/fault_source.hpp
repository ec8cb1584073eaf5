// SPDX-License-Identifier: Apache-2.0
// What fails beneath a public call, in faults.cpp.
#pragma once

#include "failing_calls.hpp"

#include <tilewise/error.hpp>

#include <functional>
#include <string>

namespace tilewise::tests {

/// What fails.
struct source {
  std::string name;
  std::function<void(long skipped)> arm;
  std::function<bool()> disarm;  ///< returns whether it has failed
  std::function<long()> live;    ///< how much is held
  std::function<bool(const error&)> fits;
  bool on_a_new_device = false;  ///< where nothing is kept from calls before
  /// What else went wrong meanwhile, in words; empty if nothing did.
  std::function<std::string()> aftermath = [] { return std::string(); };
};

/// From some place on, so many calls of one name.
inline source failing(failing_calls& of, const char* call, int status, long times,
                      std::function<bool(const error&)> fits, bool on_a_new_device) {
  return {
      std::string(call) + " returns " + std::to_string(status),
      [&of, call, status, times](long skipped) {
        of.status = status;
        of.skipped = skipped;
        of.failing = times;
        of.failed = 0;
        of.call = call;
      },
      [&of] {
        of.call = nullptr;
        return of.failed != 0;
      },
      [&of] { return of.live.load(); },
      std::move(fits),
      on_a_new_device,
      [&of] { return of.unchecked.exchange(0) == 0 ? "" : "a kernel was launched although what it needs had failed"; }};
}

}  // namespace tilewise::tests
