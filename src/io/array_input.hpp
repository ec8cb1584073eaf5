// SPDX-License-Identifier: Apache-2.0
// Where an array's elements come from: a file, or standard input. Strict: nothing is allocated until a file has proved
// to be what it says.
#pragma once

#include "io/npy.hpp"
#include "io/npy_header.hpp"

#include <optional>

namespace tilewise::io {

/// The name that stands for standard input and standard output.
inline constexpr const char* standard_stream = "-";

/// Elements without a header, little-endian and in C order; without a shape as many in a row as there are.
struct raw_elements {
  dtype type;
  std::optional<std::vector<std::uint64_t>> shape;
};

class array_input {
 public:
  /// An .npy file, or raw elements. Throws `io` with the path and a sentence for what is neither. A file that is not as
  /// long as the system says, as in /proc, and raw elements from a pipe that nobody has given a shape are read here.
  explicit array_input(const std::string& path, const std::optional<raw_elements>& raw = std::nullopt);
  array_input(const array_input&) = delete;
  ~array_input();

  dtype type() const { return header_.type; }
  const std::vector<std::uint64_t>& shape() const { return header_.shape; }
  std::uint64_t bytes() const { return header_.data_bytes; }
  /// Whether read() gives the elements in C order.
  bool is_c_order() const { return !header_.fortran_order || header_.shape.size() < 2; }
  /// A pipe: the elements can be read once, from the first to the last, by one thread at a time.
  bool is_pipe() const { return !is_regular_; }

  /// Whole elements, little-endian, from the byte `from` of all elements on; many of them by several threads. Throws
  /// `io` with the file's byte.
  void read(std::uint64_t from, std::span<std::byte> into);
  /// All of them, in C order. Throws `out_of_memory` with the need and the limit.
  npy_array read_all();

 private:
  [[noreturn]] void refuse(const std::string& why) const;
  void read_header();
  void find_raw_elements(const raw_elements& raw);
  void hold_all();
  void require_end();
  void read_slice(std::uint64_t from, std::span<std::byte> into);
  /// Fewer bytes than asked for only where the file ends.
  std::uint64_t read_bytes(std::uint64_t at, std::span<std::byte> into);

  std::string shown_;  // as messages call it
  int file_;
  bool is_regular_ = true;
  std::uint64_t begin_ = 0, size_ = 0;  // of the file from where it is read; unknown of a pipe that is not held
  npy_header header_;
  host_block held_;  // all bytes of what has no size, or a wrong one
};

}  // namespace tilewise::io
