// SPDX-License-Identifier: Apache-2.0
// What:   segment_reduce by its definition; never optimised.
// Order:  src/order, for each segment by itself: push every element on the block stack, fold.
// Shape:  one loop on the calling thread.
// Limits: none.
// Twins:  every other file of the folder.
#include "order/block_stack.hpp"
#include "registry/variant.hpp"
#include "segment_reduce/problem.hpp"

namespace tilewise::impl::segment_reduce {

namespace {

template <class T, class Op>
T value_of(const registry::problem& p, std::span<const T> segment) {
  if (segment.empty()) return empty_value<T, Op>(p);
  order::block_stack<T, Op> blocks;
  for (const T x : segment) blocks.push(x);
  return order::canonical(Op::template apply<T>(first_of<T, Op>(p), blocks.fold()));
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue&) {
  const std::span<const std::int64_t> offsets = offsets_of(p, where);
  require_segments(segmentation_of(p), offsets);
  with_type(p.type, [&]<class T>(T) {
    order::with_operator(operation_of(p), [&]<class Op>(Op) {
      const T* const x = where.in[0].as<const T>();
      for (std::uint64_t s = 0; s < segments_of(p); ++s)
        where.out[0].as<T>()[s] = value_of<T, Op>(p, {x + offsets[s], x + offsets[s + 1]});
    });
  });
}

}  // namespace

std::vector<registry::variant> segment_reduce_serial_variants() {
  return {{.algorithm = "segment_reduce",
           .backend = "serial",
           .name = "",
           .types = all_dtypes,
           .source = "src/order/README.md, for each segment",
           .run = run}};
}

}  // namespace tilewise::impl::segment_reduce
