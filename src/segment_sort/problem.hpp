// SPDX-License-Identifier: Apache-2.0
// How a sort of segments is written as a registry::problem: shape {elements, segments}; settings order and payload, as
// those of a sort. The operands are those of a sort, and then the offsets.
#pragma once

#include "segment_reduce/offsets.hpp"
#include "sort/problem.hpp"

namespace tilewise::impl::segment_sort {

const registry::algorithm& segment_sort_algorithm();

using sort::is_descending, sort::has_values, sort::payload, sort::payload_of, sort::payload_size;
inline std::uint64_t segments_of(const registry::problem& p) { return p.shape[1]; }
/// Any segment may be empty.
inline segment_reduce::segmentation segmentation_of(const registry::problem& p) { return {p.n(), segments_of(p), {}}; }

inline const backend::memory& offsets_memory(const registry::problem& p, const registry::bindings& where) {
  return where.in[has_values(p) ? 2 : 1];
}
/// The offsets, where memory has addresses.
inline std::span<const std::int64_t> offsets_of(const registry::problem& p, const registry::bindings& where) {
  return {offsets_memory(p, where).as<const std::int64_t>(), segments_of(p) + 1};
}

/// The sort of n elements that are one segment. Its indices are those within the segment.
inline registry::problem sort_of(const registry::problem& p, std::uint64_t n) {
  registry::problem one = p;
  one.what = &sort::sort_algorithm();
  one.shape = {n};
  return one;
}
/// The operands of that sort, whose first element is `begin`.
inline registry::bindings operands_of(const registry::problem& p, const registry::bindings& where, std::uint64_t begin,
                                      std::uint64_t n) {
  const std::array<std::uint64_t, 2> width{size_of(p.type), payload_size(payload_of(p))};
  registry::bindings one;
  for (std::size_t i = 0; i < width.size(); ++i) {
    if (i == 0 || has_values(p)) one.in[i] = where.in[i].at(begin * width[i], n * width[i]);
    if (width[i] != 0) one.out[i] = where.out[i].at(begin * width[i], n * width[i]);
  }
  return one;
}

}  // namespace tilewise::impl::segment_sort
