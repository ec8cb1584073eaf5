// SPDX-License-Identifier: Apache-2.0
// Preloaded by a test: a call of OpenACC's that never returns. FAKE_OPENACC names it: "launch5" is the launch of a
// kernel after five others, and what else may hang is declared at the end.
#include <cstddef>
#include <cstdlib>
#include <string>

#include <dlfcn.h>
#include <unistd.h>

namespace {

void hang_at(const std::string& call) {
  const char* const told = std::getenv("FAKE_OPENACC");
  while (told != nullptr && call == told) pause();
}

template <class Call>
Call* real(const char* name) {
  return reinterpret_cast<Call*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

/// Declares a function that may hang.
#define MAY_HANG(result, name, parameters, arguments)                        \
  extern "C" __attribute__((visibility("default"))) result name parameters { \
    hang_at(#name);                                                          \
    return real<result parameters>(#name) arguments;                         \
  }

MAY_HANG(void, acc_set_device_num, (int number, int type), (number, type))
MAY_HANG(void*, acc_malloc, (std::size_t bytes), (bytes))
MAY_HANG(void, acc_free, (void* what), (what))
MAY_HANG(void, acc_memcpy_to_device, (void* to, void* from, std::size_t bytes), (to, from, bytes))
MAY_HANG(void, acc_memcpy_from_device, (void* to, void* from, std::size_t bytes), (to, from, bytes))

/// Has a list of arguments without an end, which are passed on as they lie.
extern "C" __attribute__((visibility("default"))) void GOACC_parallel_keyed() {
  constexpr std::size_t most_bytes = 256;  // of arguments in memory
  static int launches = 0;
  hang_at("launch" + std::to_string(launches++));
  __builtin_return(__builtin_apply(real<void(...)>("GOACC_parallel_keyed"), __builtin_apply_args(), most_bytes));
}
