// SPDX-License-Identifier: Apache-2.0
// Room on disk for what does not fit into memory. It has no name, so it is gone with the process, however that ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace tilewise::io {

/// Every failure is an `io` error with the folder and the system's words.
class scratch_file {
 public:
  /// Throws, too, if the folder's disk lacks the room.
  scratch_file(const std::string& folder, std::uint64_t bytes);
  scratch_file(const scratch_file&) = delete;
  ~scratch_file();

  /// By several threads, if it is much.
  void write(std::uint64_t at, std::span<const std::byte> bytes);
  void read(std::uint64_t at, std::span<std::byte> into) const;

 private:
  [[noreturn]] void fail(const std::string& what) const;

  std::string shown_;  // the folder, as messages call it
  int file_;
};

}  // namespace tilewise::io
