// SPDX-License-Identifier: Apache-2.0
// An array whose parts lie on the ranks of a group.
#pragma once

#include "backend/backend.hpp"

#include <algorithm>

namespace tilewise::backend::group {

/// Bytes [begin, end) of an array.
struct byte_range {
  std::uint64_t begin = 0, end = 0;

  std::uint64_t bytes() const { return end - begin; }
  bool holds(byte_range other) const { return begin <= other.begin && other.end <= end; }
};
/// Empty where they have nothing in common.
constexpr byte_range common(byte_range a, byte_range b) {
  const std::uint64_t begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

/// What a group's `memory::base` points to: rank i has bytes [border[i], border[i + 1]).
struct group_array {
  std::vector<std::uint64_t> border;
  std::vector<memory> part;  // nothing for ranks of other processes
};

inline const group_array& array_of(const memory& m) { return *static_cast<const group_array*>(m.base); }

/// What rank `index` has of `m`, which may be a piece of an array, counted from the piece's begin.
inline byte_range part_of(const memory& m, unsigned index) {
  if (m.base == nullptr) return {};
  const auto within = [&](std::uint64_t at) { return std::clamp(at, m.offset, m.offset + m.bytes) - m.offset; };
  return {within(array_of(m).border[index]), within(array_of(m).border[index + 1])};
}

/// Where a range that rank `index` has lies in its memory.
inline memory local(const memory& m, unsigned index, byte_range range) {
  if (range.bytes() == 0) return {};
  return array_of(m).part[index].at(m.offset + range.begin - array_of(m).border[index], range.bytes());
}

}  // namespace tilewise::backend::group
