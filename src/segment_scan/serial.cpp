// SPDX-License-Identifier: Apache-2.0
// What:   segment_scan by its definition; never optimised.
// Order:  src/order, for each segment by itself: after each push, the fold of the block stack is the prefix.
// Shape:  one loop on the calling thread.
// Limits: none; works in place.
// Twins:  every other file of the folder.
#include "order/block_stack.hpp"
#include "registry/variant.hpp"
#include "segment_scan/problem.hpp"

namespace tilewise::impl::segment_scan {

namespace {

template <class T, class Op>
void scan_segment(const T* x, T* y, std::uint64_t length, const registry::problem& p) {
  const T first = first_of<T, Op>(p);
  order::block_stack<T, Op> blocks;
  for (std::uint64_t i = 0; i < length; ++i) {
    const T value = x[i], before = blocks.fold();
    blocks.push(value);
    y[i] = order::canonical(Op::template apply<T>(first, is_exclusive(p) ? before : blocks.fold()));
  }
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue&) {
  const std::span<const std::int64_t> offsets = offsets_of(p, where);
  segment_reduce::require_segments(segmentation_of(p), offsets);
  with_type(p.type, [&]<class T>(T) {
    order::with_operator(operation_of(p), [&]<class Op>(Op) {
      const T* const x = where.in[0].as<const T>();
      T* const y = where.out[0].as<T>();
      for (std::uint64_t s = 0; s < segments_of(p); ++s)
        scan_segment<T, Op>(x + offsets[s], y + offsets[s], static_cast<std::uint64_t>(offsets[s + 1] - offsets[s]), p);
    });
  });
}

}  // namespace

std::vector<registry::variant> segment_scan_serial_variants() {
  return {{.algorithm = "segment_scan",
           .backend = "serial",
           .name = "",
           .types = all_dtypes,
           .source = "src/order/README.md, for each segment",
           .run = run}};
}

}  // namespace tilewise::impl::segment_scan
