// SPDX-License-Identifier: Apache-2.0
// A library that changes the floating-point mode of the thread that loads it: it flushes denormals, as libraries linked
// for speed do, and rounds up. It rounds up in both control registers of a thread, since printf and strtod use the
// older one, of the x87.
#include <cfenv>

[[gnu::constructor]] static void change() {
  std::fesetround(FE_UPWARD);
  __builtin_ia32_ldmxcsr(0xdfc0);
}
