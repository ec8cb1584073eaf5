// SPDX-License-Identifier: Apache-2.0
// Any bytes are an array that proves itself, or an io or out_of_memory error.
#include "fuzz.hpp"
#include "io/npy.hpp"

using namespace tilewise;

TILEWISE_FUZZ_TARGET {
  const fuzz::memory_file file(text);
  fuzz::is_file_read(file.path(), {errc::io, errc::out_of_memory}, [&] {
    const io::npy_array x = io::read_npy(file.path());
    std::uint64_t count = 1;
    for (const std::uint64_t n : x.shape) count *= n;
    fuzz::require(x.count() == count && x.data.size() <= text.size(), "an array proves itself");
  });
}
