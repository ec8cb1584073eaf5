// SPDX-License-Identifier: Apache-2.0
// Where an array's elements go: an .npy file that appears complete or not at all, or standard output.
#pragma once

#include "io/replacement_file.hpp"

#include <tilewise/error.hpp>
#include <tilewise/types.hpp>

#include <atomic>
#include <optional>

namespace tilewise::io {

/// Standard output is a pipe that nobody reads any more.
struct reader_gone : error {
  using error::error;
};

class array_output {
 public:
  /// Throws `io` if the file cannot be written or the disk has no room for it. Standard output gets nothing before the
  /// first elements.
  array_output(const std::string& path, dtype type, std::span<const std::uint64_t> shape);
  /// The same file as that of another process, which has named it with `temporary`.
  array_output(const std::string& path, dtype type, std::span<const std::uint64_t> shape, const std::string& temporary);

  /// Standard output: the elements are written once, from the first to the last, by one thread at a time.
  bool is_pipe() const { return !file_; }
  const std::string& temporary() const { return file_->temporary(); }

  /// Elements from the byte `from` of all elements on; many of them by several threads.
  void write(std::uint64_t from, std::span<const std::byte> elements);
  /// The file takes its place.
  void commit();

 private:
  void print(std::span<const std::byte> bytes);

  std::string header_;
  std::optional<replacement_file> file_;
  std::uint64_t printed_ = 0;  // bytes of standard output
};

}  // namespace tilewise::io
