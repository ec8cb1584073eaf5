// SPDX-License-Identifier: Apache-2.0
// NumPy's array files, the exchange format of the tool. Versions 1 to 3; f4 f8 i4 i8 u4 u8; big-endian files and
// Fortran order are converted.
#pragma once

#include "io/host_block.hpp"

#include <tilewise/types.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tilewise::io {

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
