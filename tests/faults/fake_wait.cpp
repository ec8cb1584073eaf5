// SPDX-License-Identifier: Apache-2.0
// Preloaded by a test: whoever waits at a pipe or a socket for some time alone has waited for so long at once.
#include <dlfcn.h>
#include <poll.h>

extern "C" __attribute__((visibility("default"))) int poll(pollfd* all, nfds_t count, int milliseconds) {
  return milliseconds > 0 ? 0 : reinterpret_cast<decltype(&poll)>(dlsym(RTLD_NEXT, "poll"))(all, count, milliseconds);
}
