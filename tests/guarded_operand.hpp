// SPDX-License-Identifier: Apache-2.0
// An operand in device memory between two guard zones, which show on any backend if something is written outside it.
#pragma once

#include "backend/backend.hpp"

#include <algorithm>
#include <vector>

namespace tilewise::tests {

/// Fills memory before it is written. A result hardly ever consists of these bytes.
inline constexpr std::byte poison{0xa5};

inline std::vector<std::byte> poisoned(std::size_t bytes) { return std::vector<std::byte>(bytes, poison); }

class guarded_operand {
 public:
  /// `shift` moves the operand's address off the alignment that allocations have.
  guarded_operand(backend::queue& queue, const std::vector<std::byte>& contents, std::uint64_t shift)
      : queue_(queue), bytes_(contents.size()), first_(guard + shift), memory_(queue, first_ + bytes_ + guard) {
    std::vector<std::byte> all = poisoned(first_ + bytes_ + guard);
    std::copy(contents.begin(), contents.end(), all.begin() + static_cast<std::ptrdiff_t>(first_));
    queue.upload(memory_, all.data(), all.size());
  }

  backend::memory inner() const { return static_cast<backend::memory>(memory_).at(first_, bytes_); }

  std::vector<std::byte> download() {
    std::vector<std::byte> all(bytes_ + first_ + guard);
    queue_.download(all.data(), memory_, all.size());
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first_);
    const auto end = begin + static_cast<std::ptrdiff_t>(bytes_);
    const auto is_poison = [](std::byte b) { return b == poison; };
    guards_whole_ = std::all_of(all.begin(), begin, is_poison) && std::all_of(end, all.end(), is_poison);
    return {begin, end};
  }

  /// As of the last download.
  bool guards_whole() const { return guards_whole_; }

 private:
  // Longer than any vector or cache line, and a multiple of the alignment of allocations.
  static constexpr std::uint64_t guard = 256;

  backend::queue& queue_;
  std::uint64_t bytes_;
  std::uint64_t first_;
  backend::buffer memory_;
  bool guards_whole_ = false;
};

}  // namespace tilewise::tests
