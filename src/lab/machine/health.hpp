// SPDX-License-Identifier: Apache-2.0
// What makes measurements on this machine bad, and what to do about it.
#pragma once

#include "lab/machine/system_files.hpp"

#include <cstdint>
#include <functional>
#include <string_view>

namespace tilewise::lab {

/// The worst first: it moves times, it may move them, or it should be known when they are read.
enum class severity : std::uint8_t { harms, may_harm, note };
constexpr std::string_view name_of(severity s) {
  return s == severity::harms ? "harms" : s == severity::may_harm ? "may_harm" : "note";
}

struct finding {
  severity how;
  std::string check;  // its name: "governor"
  std::string what, advice;
};

/// Looks at the processors, their clocks, the memory, control groups and other processes. `wait` lets a moment pass and
/// returns its length in seconds: what the others do meanwhile is counted.
std::vector<finding> examine(const system_files& system, const std::function<double()>& wait);

}  // namespace tilewise::lab
