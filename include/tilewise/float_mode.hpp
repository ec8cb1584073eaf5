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
  default_float_mode() : callers_(control::of_thread()) { control::change(callers_, {}); }
  /// Gives it back.
  ~default_float_mode() { control::change(control::of_thread(), callers_); }
  default_float_mode(const default_float_mode&) = delete;
  default_float_mode& operator=(const default_float_mode&) = delete;

  /// Whether the thread computes so anyway.
  static bool is_on() { return control::of_thread().is({}); }

 private:
  /// The control words of the processor's two units, by default the standard ones. The library computes with vectors;
  /// long double, and glibc where it reads and writes numbers as text, go by the other unit.
  struct control {
    std::uint32_t vectors = 0x1f80;  ///< MXCSR
    std::uint16_t x87 = 0x37f;       ///< the x87's

    /// As they are.
    static control of_thread() {
      control now;
      now.vectors = __builtin_ia32_stmxcsr();
      asm volatile("fnstcw %0" : "=m"(now.x87));
      return now;
    }
    /// Whether they are alike, but for the flags of what has happened.
    bool has_vectors(const control& of) const { return ((vectors ^ of.vectors) & ~0x3fu) == 0; }
    bool has_x87(const control& of) const { return ((x87 ^ of.x87) & 0xf3f) == 0; }  ///< of the bits in use
    bool is(const control& of) const { return has_vectors(of) && has_x87(of); }      ///< both
    /// To load one takes 200 times as long as to look at it.
    static void change(const control& from, const control& to) {
      if (!from.has_vectors(to)) __builtin_ia32_ldmxcsr(to.vectors);
      if (!from.has_x87(to)) asm volatile("fldcw %0" : : "m"(to.x87));
    }
  };

  control callers_;
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
