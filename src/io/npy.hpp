// SPDX-License-Identifier: Apache-2.0
// NumPy's array files, the exchange format of the tool. Versions 1 to 3; f4 f8 i4 i8 u4 u8; big-endian files and
// Fortran order are converted.
#pragma once

#include <tilewise/types.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tilewise::io {

/// Memory for the elements of one array on the host: not filled with zeros first, and in huge pages where the system
/// gives them. Its pages come into being on the threads that first write them.
class host_block {
 public:
  host_block() = default;
  /// Throws std::bad_alloc.
  explicit host_block(std::uint64_t bytes);

  std::uint64_t size() const { return bytes_; }
  std::byte* data() { return memory_.get(); }
  const std::byte* data() const { return memory_.get(); }
  std::byte* begin() { return data(); }
  std::byte* end() { return data() + bytes_; }
  const std::byte* begin() const { return data(); }
  const std::byte* end() const { return data() + bytes_; }

 private:
  struct releaser {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::byte, releaser> memory_;
  std::uint64_t bytes_ = 0;
};

/// An array in C order, little-endian.
struct npy_array {
  dtype type = dtype::f32;
  std::vector<std::uint64_t> shape;  // empty: a single value
  host_block data;

  std::uint64_t count() const { return data.size() / size_of(type); }
};

/// Throws `io` with the path and a sentence for anything that is not such a file, and `out_of_memory` with the need and
/// the limit for one that the host cannot hold.
npy_array read_npy(const std::string& path);

/// Writes version 1 in C order, to a temporary file that is renamed; a failure (`io`) leaves an existing file alone.
void write_npy(const std::string& path, dtype type, std::span<const std::uint64_t> shape,
               std::span<const std::byte> data);

}  // namespace tilewise::io
