// SPDX-License-Identifier: Apache-2.0
// What:   segment_sort by its definition; never optimised.
// Order:  by code (sort/code.hpp); elements with the same code in the order of the input.
// Shape:  sort/serial.cpp, for one segment after another.
// Limits: workspace of 16 bytes per element of the longest segment; works in place.
// Twins:  every other file of the folder.
#include "registry/variant.hpp"
#include "segment_sort/problem.hpp"

namespace tilewise::impl::segment_sort {

namespace {

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning& t, backend::queue& q) {
  const std::span<const std::int64_t> offsets = offsets_of(p, where);
  segment_reduce::require_segments(segmentation_of(p), offsets);
  const auto sort_segment = sort::sort_serial_variants()[0].run;
  for (std::uint64_t s = 0; s < segments_of(p); ++s) {
    const auto begin = static_cast<std::uint64_t>(offsets[s]), n = static_cast<std::uint64_t>(offsets[s + 1]) - begin;
    sort_segment(sort_of(p, n), operands_of(p, where, begin, n), t, q);
  }
}

}  // namespace

std::vector<registry::variant> segment_sort_serial_variants() {
  return {{.algorithm = "segment_sort",
           .backend = "serial",
           .name = "",
           .types = all_dtypes,
           .source = "std::stable_sort over the codes of src/sort/code.hpp, for each segment",
           .run = run}};
}

}  // namespace tilewise::impl::segment_sort
