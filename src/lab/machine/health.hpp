// SPDX-License-Identifier: Apache-2.0
// Finds what would spoil measurements on this machine, and says what to do about it.
#pragma once

#include "lab/machine/system_files.hpp"

#include <cstdint>
#include <functional>
#include <string_view>

namespace tilewise::lab {

/// Worst first: it changes times, it may change them, or a reader of the times should know it.
enum class severity : std::uint8_t { harms, may_harm, note };
constexpr std::string_view name_of(severity s) {
  return s == severity::harms ? "harms" : s == severity::may_harm ? "may_harm" : "note";
}

struct finding {
  severity how;
  std::string check;  // its name: "governor"
  std::string what, advice;
};

/// Examines the processors, their clocks, the memory, control groups and other processes. `wait` waits a moment and
/// returns how many seconds that was; the work of other processes is counted meanwhile.
std::vector<finding> examine(const system_files& system, const std::function<double()>& wait);

}  // namespace tilewise::lab
