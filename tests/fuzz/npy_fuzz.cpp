// SPDX-License-Identifier: Apache-2.0
// Any bytes give either a valid array, or an io or out_of_memory error.
#include "fuzz.hpp"
#include "io/npy.hpp"

using namespace tilewise;

TILEWISE_FUZZ_TARGET {
  const fuzz::memory_file file(text);
  fuzz::is_file_read(file.path(), {errc::io, errc::out_of_memory}, [&] {
    const io::npy_array x = io::read_npy(file.path());
    std::uint64_t bytes = size_of(x.type);
    bool is_too_large = false;
    for (const std::uint64_t n : x.shape) is_too_large = __builtin_mul_overflow(bytes, n, &bytes) || is_too_large;
    const bool is_empty = std::find(x.shape.begin(), x.shape.end(), 0u) != x.shape.end();
    fuzz::require(is_empty || !is_too_large, "the sizes of an array are those of a file");
    fuzz::require(x.data.size() == bytes && bytes < text.size(), "an array holds what its file does");
  });
}
