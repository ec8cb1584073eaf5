// SPDX-License-Identifier: Apache-2.0
// A file that appears complete or not at all, even after a power failure. It is written next to its target and flushed
// to disk before it is renamed to the target.
#pragma once

#include "io/unfinished.hpp"

#include <atomic>
#include <cstddef>
#include <span>
#include <string>

namespace tilewise::io {

/// Every failure is an `io` error with the path and the system's message; the target is then unchanged.
class replacement_file {
 public:
  /// Refuses a target that exists and is not a regular file. A symbolic link is followed as in destination(), so that
  /// the link remains, even a dangling one. Links that somebody creates later are not followed.
  explicit replacement_file(const std::string& target);
  /// Opens another process's temporary file, for write_at(). Only that process commits or removes it.
  replacement_file(const std::string& target, const std::string& temporary);
  replacement_file(const replacement_file&) = delete;
  ~replacement_file();  // removes the temporary file unless it was committed

  void write(std::span<const std::byte> bytes);
  void commit();
  /// The path of the temporary file.
  const std::string& temporary() const { return temporary_; }

  /// Makes the file this long, before write_at(). Throws if the disk has too little space.
  void resize(std::uint64_t bytes);
  /// May be called from several threads at once, for disjoint ranges.
  void write_at(std::uint64_t at, std::span<const std::byte> bytes);

 private:
  [[noreturn]] void fail(const std::string& what);
  void map_pages(std::uint64_t bytes);
  bool copy_to_map(std::uint64_t at, std::span<const std::byte> bytes) noexcept;

  /// The target's folder, open so that renaming it does not matter.
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
  std::atomic<unsigned> writing_{0};  // number of threads in write_at
  std::byte* map_ = nullptr;          // maps a file in memory, so that threads need not wait for each other's writes
  std::uint64_t size_ = 0;
};

/// Throws if this file cannot be written: no folder, no permission, or not a regular file. Changes nothing.
void try_output(const std::string& target);

}  // namespace tilewise::io
