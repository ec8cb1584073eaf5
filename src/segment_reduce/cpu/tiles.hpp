// SPDX-License-Identifier: Apache-2.0
// How work on segments is dealt on a CPU: a tile has the segments that begin on its share of elements and segments, so
// that neither many empty ones nor a long one keep a worker for long.
#pragma once

#include "backend/cpu/device.hpp"
#include "base/ceil_div.hpp"
#include "segment_reduce/offsets.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <numeric>

namespace tilewise::impl::segment_reduce {

inline constexpr std::uint64_t tiles_per_thread = 8, shortest_tile = 4096;

/// The tile of this length, or a shorter one so that every worker gets some.
inline std::uint64_t tile_for(const segmentation& of, std::uint64_t longest, const backend::cpu::queue& queue) {
  const std::uint64_t work = of.elements + of.segments;
  if (queue.threads() == 1 || work <= shortest_tile) return longest;
  return std::min(longest, std::max(shortest_tile, std::bit_floor(work / (queue.threads() * tiles_per_thread))));
}

/// Whether the offsets are those of segments that have a value.
inline bool are_valid(const segmentation& of, std::span<const std::int64_t> offsets, backend::cpu::queue& queue) {
  constexpr std::uint64_t at_once = 65536;
  if (offsets.front() != 0 || static_cast<std::uint64_t>(offsets.back()) != of.elements) return false;
  const bool refuses_empty = !of.no_value.empty();
  std::atomic<bool> all_valid = true;
  queue.for_each_tile(ceil_div(of.segments, at_once), [&](std::uint64_t i, unsigned) {
    const std::uint64_t end = std::min(of.segments, (i + 1) * at_once);
    bool wrong = false;
    for (std::uint64_t s = i * at_once; s < end; ++s)
      wrong |= (offsets[s + 1] < offsets[s]) | (refuses_empty & (offsets[s + 1] == offsets[s]));
    if (wrong) all_valid = false;
  });
  return all_valid;
}

/// Refuses offsets that are not those of segments that have a value.
inline void require_segments(const segmentation& of, std::span<const std::int64_t> offsets,
                             backend::cpu::queue& queue) {
  if (!are_valid(of, offsets, queue)) require_segments(of, offsets);
}

/// The first segment before which there are at least `place` elements and segments.
inline std::uint64_t first_segment(std::span<const std::int64_t> offsets, std::uint64_t place) {
  std::uint64_t first = 0, end = offsets.size() - 1;
  while (first < end) {
    const std::uint64_t middle = std::midpoint(first, end);
    if (static_cast<std::uint64_t>(offsets[middle]) + middle < place)
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}

/// Calls take(first segment, end, worker) for each tile of this length.
template <class Take>
void for_each_tile(const segmentation& of, std::span<const std::int64_t> offsets, std::uint64_t tile,
                   backend::cpu::queue& queue, const Take& take) {
  queue.for_each_tile((of.elements + of.segments) / tile + 1, [&](std::uint64_t i, unsigned worker) {
    take(first_segment(offsets, i * tile), first_segment(offsets, (i + 1) * tile), worker);
  });
}

}  // namespace tilewise::impl::segment_reduce
