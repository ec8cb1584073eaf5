// SPDX-License-Identifier: Apache-2.0
// What fails below a public call, in faults.cpp.
#pragma once

#include "failing_calls.hpp"

#include <tilewise/error.hpp>

#include <functional>
#include <string>

namespace tilewise::tests {

/// Something that fails on demand.
struct source {
  std::string name;
  std::function<void(long skipped)> arm;
  std::function<bool()> disarm;  ///< returns whether it has failed
  std::function<long()> live;    ///< how many objects are held
  std::function<bool(const error&)> fits;
  bool on_a_new_device = false;  ///< where nothing is kept from earlier calls
  /// Any other fault during the failure, in words; empty if there is none.
  std::function<std::string()> aftermath = [] { return std::string(); };
};

/// Makes `times` calls with one name fail, from some point on.
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
