// SPDX-License-Identifier: Apache-2.0
// A library that flushes denormals in the thread that loads it, as those do that are linked for speed.
[[gnu::constructor]] static void flush() { __builtin_ia32_ldmxcsr(0x9fc0); }
