// SPDX-License-Identifier: Apache-2.0
#include "io/npy.hpp"

#include "base/huge_pages.hpp"
#include "io/array_input.hpp"
#include "io/array_output.hpp"

#include <new>

namespace tilewise::io {

host_block::host_block(std::uint64_t bytes) : memory_(bytes == 0 ? nullptr : base::allocate(bytes)), bytes_(bytes) {
  if (memory_ == nullptr && bytes != 0) throw std::bad_alloc();
}

npy_array read_npy(const std::string& path) { return array_input(path).read_all(); }

void write_npy(const std::string& path, dtype type, std::span<const std::uint64_t> shape,
               std::span<const std::byte> data) {
  array_output file(path, type, shape);
  file.write(0, data);
  file.commit();
}

}  // namespace tilewise::io
