// SPDX-License-Identifier: Apache-2.0
// The floating-point mode of a thread. Programs and libraries change it: code built for speed may flush
// denormals, and std::fesetround() changes the rounding.
#pragma once

#include <cstdint>

namespace tilewise {

/// While this object lives, the thread rounds to nearest, keeps denormals and masks floating-point exceptions. Its
/// destructor restores the thread's earlier mode. The compiler may move arithmetic in the same function past this
/// object; in_default_float_mode() prevents that.
class default_float_mode {
 public:
  /// Saves the thread's mode and sets the default mode.
  default_float_mode() : callers_(control::of_thread()) { control::change(callers_, {}); }
  /// Restores the saved mode.
  ~default_float_mode() { control::change(control::of_thread(), callers_); }
  default_float_mode(const default_float_mode&) = delete;
  default_float_mode& operator=(const default_float_mode&) = delete;

  /// Whether the thread is in the default mode already.
  static bool is_on() { return control::of_thread().is({}); }

 private:
  /// The control words of the processor's two floating-point units, initialized to the default mode. The library
  /// computes with the vector unit. long double, and glibc when it converts numbers from and to text, use the x87.
  struct control {
    std::uint32_t vectors = 0x1f80;  ///< MXCSR
    std::uint16_t x87 = 0x37f;       ///< the x87's control word

    /// The thread's current control words.
    static control of_thread() {
      control now;
      now.vectors = __builtin_ia32_stmxcsr();
      asm volatile("fnstcw %0" : "=m"(now.x87));
      return now;
    }
    /// Whether the vector control words are equal, apart from the exception flags.
    bool has_vectors(const control& of) const { return ((vectors ^ of.vectors) & ~0x3fu) == 0; }
    bool has_x87(const control& of) const { return ((x87 ^ of.x87) & 0xf3f) == 0; }  ///< compares only the bits in use
    bool is(const control& of) const { return has_vectors(of) && has_x87(of); }      ///< both
    /// Writes only a control word that differs: writing one takes 200 times as long as reading it.
    static void change(const control& from, const control& to) {
      if (!from.has_vectors(to)) __builtin_ia32_ldmxcsr(to.vectors);
      if (!from.has_x87(to)) asm volatile("fldcw %0" : : "m"(to.x87));
    }
  };

  control callers_;
};

/// Runs `call` in the default floating-point mode and returns its result. Every function of the library does this
/// itself. Use it in a program that changes its mode, for the program's own arithmetic on inputs and results, such as
/// an initial value.
template <class Call>
[[gnu::noinline]] auto in_default_float_mode(const Call& call) {
  auto* body = +[](const Call& c) { return c(); };
  asm volatile("" : "+r"(body));  // hides the callee, so that the compiler cannot move its arithmetic
  const default_float_mode during;
  return body(call);
}

}  // namespace tilewise
