// A file that appears complete or not at all, even after a power cut: written beside its target, and on the disk before
// it is renamed over it.
#pragma once

#include "io/unfinished.hpp"

#include <cstddef>
#include <span>
#include <string>

namespace tilewise::io {

/// Every failure is an `io` error with the path and the system's words; the target is then as it was before.
class replacement_file {
 public:
  /// Refuses a target that exists and is not a regular file. A link is followed, so that
  /// it stays one, even if it leads to nothing yet.
  explicit replacement_file(const std::string& target);
  replacement_file(const replacement_file&) = delete;
  ~replacement_file();  // removes what was not committed

  void write(std::span<const std::byte> bytes);
  void commit();

 private:
  [[noreturn]] void fail(const char* what);

  std::string target_;
  std::string shown_;  // the target as the caller named it
  std::string temporary_;
  unfinished noted_;
  int file_ = -1;
};

/// Throws what writing this file would throw: no folder, no permission, or not a regular file. Changes nothing.
void try_output(const std::string& target);

}  // namespace tilewise::io
