// SPDX-License-Identifier: Apache-2.0
// libFuzzer target of the .npy reader: any bytes are an array that proves itself, or an io or out_of_memory error.
// cmake --preset fuzz && cmake --build --preset fuzz && build/fuzz/npy-fuzz -max_total_time=60
#include "io/npy.hpp"

#include <tilewise/error.hpp>

#include <cstdlib>

#include <sys/mman.h>
#include <unistd.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilewise;
  const int file = memfd_create("fuzz", MFD_CLOEXEC);
  if (write(file, data, size) != static_cast<ssize_t>(size)) std::abort();
  try {
    const io::npy_array x = io::read_npy("/proc/self/fd/" + std::to_string(file));
    std::uint64_t count = 1;
    for (const std::uint64_t n : x.shape) count *= n;
    if (x.count() != count || x.data.size() > size) std::abort();
  } catch (const error& e) {
    if (e.code() != errc::io && e.code() != errc::out_of_memory) std::abort();
  }
  close(file);
  return 0;
}
