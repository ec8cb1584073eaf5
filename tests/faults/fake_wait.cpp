// SPDX-License-Identifier: Apache-2.0
// Preloaded by a test: a wait with a time limit at a single pipe or socket returns at once, as if the time were over.
#include <dlfcn.h>
#include <poll.h>

extern "C" __attribute__((visibility("default"))) int poll(pollfd* all, nfds_t count, int milliseconds) {
  return milliseconds > 0 ? 0 : reinterpret_cast<decltype(&poll)>(dlsym(RTLD_NEXT, "poll"))(all, count, milliseconds);
}
