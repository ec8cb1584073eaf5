// SPDX-License-Identifier: Apache-2.0
// NumPy's array files, which the tool reads and writes. Versions 1 to 3; f4 f8 i4 i8 u4 u8; big-endian files and
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

/// Host memory for the elements of one array. It is not initialized with zeros, and is in huge pages if the system has
/// them. A page is allocated when a thread first writes it, near that thread.
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

/// Reads an .npy file. Throws `io`, with the path and a sentence, if it is not valid. Throws `out_of_memory`, with the
/// bytes needed and the limit, if it does not fit in memory.
npy_array read_npy(const std::string& path);

/// Writes version 1 in C order, to a temporary file that is then renamed. On failure throws `io`; an existing file is
/// then unchanged.
void write_npy(const std::string& path, dtype type, std::span<const std::uint64_t> shape,
               std::span<const std::byte> data);

}  // namespace tilewise::io
