// SPDX-License-Identifier: Apache-2.0
// The floating-point mode of a thread, which programs and libraries change: built for speed they flush denormals, and
// std::fesetround() turns the rounding.
#pragma once

#include <cstdint>

namespace tilewise {

/// While it lives, the functions that the thread calls round to nearest, keep denormals and mask exceptions; then it
/// has its own mode again, whatever they have made of it. The compiler may move arithmetic that stands beside it, hence
/// in_default_float_mode().
class default_float_mode {
 public:
  /// Takes the mode that the thread has.
  default_float_mode() : callers_(__builtin_ia32_stmxcsr()) { set(standard); }
  /// Gives it back.
  ~default_float_mode() { set(callers_); }
  default_float_mode(const default_float_mode&) = delete;
  default_float_mode& operator=(const default_float_mode&) = delete;

  /// Whether the thread computes so anyway.
  static bool is_on() { return !differs(standard); }

 private:
  static constexpr std::uint32_t standard = 0x1f80, events = 0x3f;  // of MXCSR
  static bool differs(std::uint32_t from) { return ((__builtin_ia32_stmxcsr() ^ from) & ~events) != 0; }
  static void set(std::uint32_t mode) {
    if (differs(mode)) __builtin_ia32_ldmxcsr(mode);  // which takes 200 times as long
  }

  std::uint32_t callers_;
};

/// Returns what `call` returns, computed in that mode. Every function of the library computes so. In a program that
/// changes its mode this serves for what the program itself computes from or for results, such as an initial value.
template <class Call>
[[gnu::noinline]] auto in_default_float_mode(const Call& call) {
  auto* body = +[](const Call& c) { return c(); };
  asm volatile("" : "+r"(body));  // what the compiler cannot see it cannot move
  const default_float_mode during;
  return body(call);
}

}  // namespace tilewise
