// SPDX-License-Identifier: Apache-2.0
// The header of an .npy file: magic bytes, version, length and a Python dictionary, which is parsed strictly.
#pragma once

#include <tilewise/types.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewise::io {

/// Longer headers are refused; usual ones have about 100 bytes.
inline constexpr std::uint64_t largest_npy_header = 65536;
inline constexpr std::size_t most_npy_dimensions = 8;

struct npy_header {
  dtype type = dtype::f32;
  bool big_endian = false;
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
  std::uint64_t data_offset = 0;  // where the elements begin in the file
  std::uint64_t data_bytes = 0;   // the product of the shape and the element's size, checked for overflow
};

/// The bytes with which each file begins.
inline constexpr std::string_view npy_magic = "\x93NUMPY";

/// "f4" for f32, and so on.
std::string_view numpy_code(dtype type);

/// The type that NumPy calls `name`, in this machine's byte order: "f8", "<f8", "float64". Nothing if it is not
/// supported.
std::optional<dtype> type_called(std::string_view name);

/// How to convert raw elements of an unsupported NumPy type to an .npy file, as the end of a message; empty if that is
/// not possible.
std::string advice_for_raw_elements(std::string_view type);

/// The bytes of an array. Throws `io` if they are too many. As in NumPy, the other dimensions must not overflow even if
/// one is zero.
std::uint64_t checked_bytes(dtype type, std::span<const std::uint64_t> shape);

/// The number of bytes at a file's begin that contain the header's length.
inline constexpr std::uint64_t npy_header_start = 12;

/// The number of bytes that parse_npy_header needs, from the first npy_header_start bytes of the file.
std::uint64_t npy_header_bytes(std::span<const std::byte> start);

/// Parses the file's first npy_header_bytes() bytes, or all bytes of a shorter file. Throws `io` with a sentence, to
/// which the caller adds the path.
npy_header parse_npy_header(std::span<const std::byte> start);

/// A header of version 1, padded so that the elements begin at a multiple of 64 bytes.
std::string format_npy_header(dtype type, std::span<const std::uint64_t> shape);

}  // namespace tilewise::io
