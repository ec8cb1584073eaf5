// SPDX-License-Identifier: Apache-2.0
// Preloaded by a test: a call of OpenACC's that never returns. FAKE_OPENACC names it: "launch", of a kernel,
// "acc_memcpy_to_device" or "acc_memcpy_from_device". Kernels that are launched compute nothing.
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <unistd.h>

namespace {

void hang_at(const char* call) {
  const char* const told = std::getenv("FAKE_OPENACC");
  while (told != nullptr && std::strcmp(told, call) == 0) pause();
}

template <class Call>
Call* real(const char* name) {
  return reinterpret_cast<Call*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {
__attribute__((visibility("default"))) void GOACC_parallel_keyed() { hang_at("launch"); }
__attribute__((visibility("default"))) void acc_memcpy_to_device(void* to, void* from, std::size_t bytes) {
  hang_at("acc_memcpy_to_device");
  real<decltype(acc_memcpy_to_device)>("acc_memcpy_to_device")(to, from, bytes);
}
__attribute__((visibility("default"))) void acc_memcpy_from_device(void* to, void* from, std::size_t bytes) {
  hang_at("acc_memcpy_from_device");
  real<decltype(acc_memcpy_from_device)>("acc_memcpy_from_device")(to, from, bytes);
}
}
