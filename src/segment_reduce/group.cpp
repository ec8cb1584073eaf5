// SPDX-License-Identifier: Apache-2.0
// What:   segment_reduce on the ranks of a group.
// Order:  a segment that a border cuts is reduced by the blocks of its parts, counted from its own begin; they are folded
//         in order of position.
// Shape:  every rank has all offsets. A rank reduces the segments that lie in its part, by its own variant, and sends
//         their results to where they belong. Elements do not travel: of a cut segment each rank computes the values of
//         the blocks that it holds, and the rank where the segment begins folds them.
// Limits: those of the members' variants; the offsets fit on the host of each rank.
// Twins:  segment_scan/group.cpp, reduce/group.cpp.
#include "segment_reduce/problem.hpp"
#include "segment_reduce/segments_of_ranks.hpp"

namespace tilewise::impl::segment_reduce {

namespace {

using backend::memory;
using backend::group::rank_memory;
using divide::rank;
using registry::problem;

template <class T, class Op>
void reduce_on(const rank& r, const problem& p, const registry::bindings& where) {
  using range = divide::row_range;
  const segments_of_ranks segments(segmentation_of(p), where.in[0], sizeof(T), where.in[1], r);
  const range mine = segments.segments_on(r.index()), whole = segments.whole_ones(r.index());
  const rank_memory results = r.result(where.out[0], segments.bytes_of(mine));
  if (whole.size() != 0)
    segments.run_whole(p, whole, {.in = {}, .out = {memory(results).at(0, whole.size() * sizeof(T))}});
  const auto parts = segments.gather_parts<T>(Op::id);
  if (whole.size() != mine.size()) {
    const T all = order::fold<Op>(segments.blocks_before<Op>(r.count(), whole.end, parts));
    const T value = order::canonical(Op::template apply<T>(first_of<T, Op>(p), all));
    r.queue().upload(memory(results).at(whole.size() * sizeof(T), sizeof(T)), &value, sizeof(T));
  }
  r.deliver(
      where.out[0], [&](unsigned k) { return segments.bytes_of(segments.segments_on(k)); }, results);
}

void run(const problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& queue) {
  with_type(p.type, [&]<class T>(T) {
    order::with_operator(operation_of(p), [&]<class Op>(Op) {
      divide::run_on_ranks(queue, p, where, [&](const rank& r) { reduce_on<T, Op>(r, p, where); });
    });
  });
}

}  // namespace

std::vector<registry::variant> segment_reduce_group_variants() {
  return {{.algorithm = "segment_reduce",
           .backend = "group",
           .name = "",
           .types = all_dtypes,
           .source = "segments where their elements lie; of cut ones block values, folded in the order",
           .unsupported = divide::unsupported_by_members,
           .run = run}};
}

}  // namespace tilewise::impl::segment_reduce
