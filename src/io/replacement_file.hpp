// SPDX-License-Identifier: Apache-2.0
// A file that appears complete or not at all, even after a power cut: written beside its target, and on the disk before
// it is renamed over it.
#pragma once

#include "io/unfinished.hpp"

#include <atomic>
#include <cstddef>
#include <span>
#include <string>

namespace tilewise::io {

/// Every failure is an `io` error with the path and the system's words; the target is then as it was before.
class replacement_file {
 public:
  /// Refuses a target that exists and is not a regular file. A link is followed as destination() says, so that it stays
  /// one, even if it leads to nothing yet; what somebody puts in the place of a name or a folder later is not.
  explicit replacement_file(const std::string& target);
  /// Another process's, to write to places within it; it is that process's to commit and to remove.
  replacement_file(const std::string& target, const std::string& temporary);
  replacement_file(const replacement_file&) = delete;
  ~replacement_file();  // removes what was not committed

  void write(std::span<const std::byte> bytes);
  void commit();
  /// Where it is written until then.
  const std::string& temporary() const { return temporary_; }

  /// Makes the file this long; for what is then written to places within it. Throws if the disk lacks the room.
  void resize(std::uint64_t bytes);
  /// From several threads at once, each to its own place.
  void write_at(std::uint64_t at, std::span<const std::byte> bytes);

 private:
  [[noreturn]] void fail(const std::string& what);
  void map_pages(std::uint64_t bytes);
  bool copy_to_map(std::uint64_t at, std::span<const std::byte> bytes) noexcept;

  /// Names are given in it, whatever its own becomes.
  struct opened_folder {
    int descriptor = -1;
    ~opened_folder();
  };

  std::string target_;
  std::string shown_;  // the target as the caller named it
  opened_folder folder_;
  std::string temporary_;
  bool is_owner_ = true;
  unfinished noted_;
  int file_ = -1;
  std::atomic<unsigned> writing_{0};  // threads in write_at
  std::byte* map_ = nullptr;          // of a file that is memory, for the threads that the others would keep waiting
  std::uint64_t size_ = 0;
};

/// Throws what writing this file would throw: no folder, no permission, or not a regular file. Changes nothing.
void try_output(const std::string& target);

}  // namespace tilewise::io
