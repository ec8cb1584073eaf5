// SPDX-License-Identifier: Apache-2.0
// The header of an .npy file: magic, version, length and a Python dictionary in a strict grammar.
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

/// Headers have about 100 bytes; longer ones than this are not read.
inline constexpr std::uint64_t largest_npy_header = 65536;
inline constexpr std::size_t most_npy_dimensions = 8;

struct npy_header {
  dtype type = dtype::f32;
  bool big_endian = false;
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
  std::uint64_t data_offset = 0;  // where the elements begin in the file
  std::uint64_t data_bytes = 0;   // the checked product of the shape and the element's size
};

/// What each file begins with.
inline constexpr std::string_view npy_magic = "\x93NUMPY";

/// "f4" for f32, and so on.
std::string_view numpy_code(dtype type);

/// The type that NumPy calls so, in this machine's byte order: "f8", "<f8", "float64". None if that is none of ours.
std::optional<dtype> type_called(std::string_view name);

/// What makes an .npy file of elements without a header, of a type that NumPy calls so and that is none of ours: the
/// end of a message, empty where nothing does.
std::string advice_for_raw_elements(std::string_view type);

/// Throws `io` if there are too many. As in NumPy, a dimension of zero does not excuse the others from fitting.
std::uint64_t checked_bytes(dtype type, std::span<const std::uint64_t> shape);

/// As many of a file's first bytes say how long its header is.
inline constexpr std::uint64_t npy_header_start = 12;

/// How many of a file's first bytes parse_npy_header needs, as the first npy_header_start of them say.
std::uint64_t npy_header_bytes(std::span<const std::byte> start);

/// From as many of the file's first bytes as that, or from all of a shorter one. Throws `io` with a sentence; the
/// caller puts the path in front.
npy_header parse_npy_header(std::span<const std::byte> start);

/// Version 1, padded so that the elements begin at a multiple of 64.
std::string format_npy_header(dtype type, std::span<const std::uint64_t> shape);

}  // namespace tilewise::io
