// SPDX-License-Identifier: Apache-2.0
// Preloaded by a test: a launch of an OpenACC kernel that never returns.
#include <unistd.h>

extern "C" __attribute__((visibility("default"))) void GOACC_parallel_keyed() {
  for (;;) pause();
}
