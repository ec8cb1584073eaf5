// SPDX-License-Identifier: Apache-2.0
// A library that flushes denormals and rounds up in the thread that loads it: the first as those do that are linked for
// speed, the second in both of a thread's registers, of which printf and strtod read the older one, of the x87.
#include <cfenv>

[[gnu::constructor]] static void change() {
  std::fesetround(FE_UPWARD);
  __builtin_ia32_ldmxcsr(0xdfc0);
}
