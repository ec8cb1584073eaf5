// SPDX-License-Identifier: Apache-2.0
// The floating-point mode of a thread, which programs and libraries change: built for speed they flush denormals, and
// std::fesetround() turns the rounding.
#pragma once

#include <cstdint>

namespace tilewise {

/// While it lives, the thread rounds to nearest, keeps denormals and masks exceptions; then it has its own mode again.
/// Every function of the library computes so. In a program that changes the mode it serves for what the program itself
/// computes from or for results, such as converting an initial value.
class default_float_mode {
 public:
  default_float_mode() : callers_(__builtin_ia32_stmxcsr()), is_other_(differ(callers_, standard)) {
    if (is_other_) __builtin_ia32_ldmxcsr(standard);
  }
  ~default_float_mode() {
    if (is_other_ || differ(__builtin_ia32_stmxcsr(), callers_)) __builtin_ia32_ldmxcsr(callers_);
  }
  default_float_mode(const default_float_mode&) = delete;
  default_float_mode& operator=(const default_float_mode&) = delete;

 private:
  static constexpr std::uint32_t standard = 0x1f80, events = 0x3f;  // of MXCSR
  static bool differ(std::uint32_t a, std::uint32_t b) { return ((a ^ b) & ~events) != 0; }

  std::uint32_t callers_;
  bool is_other_;
};

}  // namespace tilewise
