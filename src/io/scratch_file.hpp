// SPDX-License-Identifier: Apache-2.0
// A file for data that does not fit in memory. It has no name, so it disappears with the process, even if that is
// killed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace tilewise::io {

/// Every failure is an `io` error with the folder and the system's message.
class scratch_file {
 public:
  /// Also throws if the folder's disk has too little space.
  scratch_file(const std::string& folder, std::uint64_t bytes);
  scratch_file(const scratch_file&) = delete;
  ~scratch_file();

  /// Large writes and reads use several threads.
  void write(std::uint64_t at, std::span<const std::byte> bytes);
  void read(std::uint64_t at, std::span<std::byte> into) const;

 private:
  [[noreturn]] void fail(const std::string& what) const;

  std::string shown_;  // the folder's name in messages
  int file_;
};

}  // namespace tilewise::io
