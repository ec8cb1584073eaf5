// SPDX-License-Identifier: Apache-2.0
// Writes an array's elements to standard output, or to an .npy file that appears complete or not at all.
#pragma once

#include "io/replacement_file.hpp"

#include <tilewise/error.hpp>
#include <tilewise/types.hpp>

#include <atomic>
#include <optional>

namespace tilewise::io {

/// Thrown if standard output is a pipe that nobody reads any more.
struct reader_gone : error {
  using error::error;
};

class array_output {
 public:
  /// Throws `io` if the file cannot be written or the disk has no room for it. Nothing is written to standard output
  /// before the first elements.
  array_output(const std::string& path, dtype type, std::span<const std::uint64_t> shape);
  /// Writes to the file of another process, whose temporary name is `temporary`.
  array_output(const std::string& path, dtype type, std::span<const std::uint64_t> shape, const std::string& temporary);

  /// Whether the output is standard output. Then the elements must be written once, in order, by one thread at a time.
  bool is_pipe() const { return !file_; }
  const std::string& temporary() const { return file_->temporary(); }

  /// Writes elements; `from` is the byte within the elements. Large writes use several threads.
  void write(std::uint64_t from, std::span<const std::byte> elements);
  /// Gives the file its final name.
  void commit();

 private:
  void print(std::span<const std::byte> bytes);

  std::string header_;
  std::optional<replacement_file> file_;
  std::uint64_t printed_ = 0;  // bytes written to standard output
};

}  // namespace tilewise::io
