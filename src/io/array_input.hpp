// SPDX-License-Identifier: Apache-2.0
// Reads an array's elements from a file or standard input. It is strict: it allocates nothing before the file's header
// and size have been checked.
#pragma once

#include "io/npy.hpp"
#include "io/npy_header.hpp"

#include <optional>

namespace tilewise::io {

/// The name that stands for standard input and standard output.
inline constexpr const char* standard_stream = "-";

/// The format of elements without a header, which are little-endian and in C order. Without a shape, all elements are
/// one row.
struct raw_elements {
  dtype type;
  std::optional<std::vector<std::uint64_t>> shape;
};

class array_input {
 public:
  /// Opens an .npy file, or raw elements. Throws `io`, with the path and a sentence, if it is neither. Reads all data
  /// at once if its size is unknown: from files whose reported length is wrong, as in /proc, and raw elements without a
  /// shape from a pipe.
  explicit array_input(const std::string& path, const std::optional<raw_elements>& raw = std::nullopt);
  /// Elements that are in memory already.
  explicit array_input(npy_array elements);
  array_input(const array_input&) = delete;
  ~array_input();

  dtype type() const { return header_.type; }
  const std::vector<std::uint64_t>& shape() const { return header_.shape; }
  std::uint64_t bytes() const { return header_.data_bytes; }
  /// Whether read() returns the elements in C order.
  bool is_c_order() const { return !header_.fortran_order || header_.shape.size() < 2; }
  /// Whether the input is a pipe. Then the elements can be read only once, in order, by one thread at a time.
  bool is_pipe() const { return !is_regular_; }

  /// Reads whole elements, converted to little-endian; `from` is the byte within the elements. Large reads use several
  /// threads. Throws `io` with the byte in the file.
  void read(std::uint64_t from, std::span<std::byte> into);
  /// Reads all elements, in C order. Throws `out_of_memory` with the bytes needed and the limit.
  npy_array read_all();

 private:
  [[noreturn]] void refuse(const std::string& why) const;
  void read_header();
  void find_raw_elements(const raw_elements& raw);
  void hold_all();
  void require_end();
  void read_slice(std::uint64_t from, std::span<std::byte> into);
  /// Returns fewer bytes than asked for only at the end of the file.
  std::uint64_t read_bytes(std::uint64_t at, std::span<std::byte> into);

  std::string shown_;  // its name in messages
  int file_;
  bool is_regular_ = true;
  std::uint64_t begin_ = 0, size_ = 0;  // where the data begins, and its bytes; size_ is 0 if unknown
  npy_header header_;
  host_block held_;  // all bytes, if the size was unknown or wrong
};

}  // namespace tilewise::io
