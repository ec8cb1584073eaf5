// SPDX-License-Identifier: Apache-2.0
// What:   segment_scan on the ranks of a group.
// Order:  positions are counted from each segment's begin. A rank's elements of a segment that a border cuts are scanned
//         in parts, each within one aligned block of the segment; scan/carry_chain.hpp has their carries.
// Shape:  every rank has all offsets. A rank scans the segments that lie in its part, by its own variant. Of a segment
//         that a border cuts, each rank sends the block values of its elements to all ranks; then it runs one scan with a
//         carry for each part. A rank has at most two such segments. In each it has up to log2(n) parts, since a segment
//         may begin at any element.
// Limits: those of the members' variants of segment_scan and scan; the offsets fit on the host of each rank.
// Twins:  segment_reduce/group.cpp, scan/group.cpp.
#include "scan/rank_parts.hpp"
#include "segment_reduce/segments_of_ranks.hpp"
#include "segment_scan/problem.hpp"

namespace tilewise::impl::segment_scan {

namespace {

using backend::memory;
using backend::group::rank_memory;
using divide::rank;
using registry::problem;

template <class T, class Op>
class scan_on_rank {
 public:
  scan_on_rank(const rank& r, const problem& p, const registry::bindings& where)
      : rank_(r),
        p_(p),
        y_(where.out[0]),
        segments_(segmentation_of(p), where.in[0], sizeof(T), where.in[1], r),
        mine_(segments_.elements_on(r.index())) {}

  void run() const {
    const rank_memory results = rank_.result(y_, segments_.bytes_of(mine_));
    const parts all = segments_.gather_parts<T>(Op::id);  // before anything is written: y may be x
    scan_whole(segments_.whole_ones(rank_.index()), results);
    const std::array<std::uint64_t, 2> cut = segments_.cut_ones(rank_.index());
    for (unsigned i = 0; i < 2; ++i)
      if (cut[i] != segments::no_segment) scan_cut(cut[i], all[2 * rank_.index() + i], all, results);
    rank_.deliver(
        y_, [&](unsigned k) { return segments_.bytes_of(segments_.elements_on(k)); }, results);
  }

 private:
  using segments = segment_reduce::segments_of_ranks;
  using range = segments::range;
  using parts = segment_reduce::parts_of_ranks<T>;

  memory within(const memory& results, range elements) const {
    return results.at((elements.begin - mine_.begin) * sizeof(T), elements.size() * sizeof(T));
  }
  void scan_whole(range whole, const memory& results) const {
    const range elements = segments_.elements_of(whole);
    if (elements.size() != 0) segments_.run_whole(p_, whole, {.in = {}, .out = {within(results, elements)}});
  }
  void scan_cut(std::uint64_t s, const order::segment<T>& own, const parts& all, const memory& results) const {
    const range here = segments_.elements_here(s);
    order::segment<T> done = segments_.blocks_before<Op>(rank_.index(), s, all);
    scan::scan_parts(scan_of(p_, here.size()), scan::carry_chain<Op, T>(done).parts_of(own), segments_.memory_of(here),
                     within(results, here), rank_);
  }

  const rank& rank_;
  const problem& p_;
  const memory y_;
  const segments segments_;
  const range mine_;
};

void run(const problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& queue) {
  with_type(p.type, [&]<class T>(T) {
    order::with_operator(operation_of(p), [&]<class Op>(Op) {
      divide::run_on_ranks(queue, p, where, [&](const rank& r) { scan_on_rank<T, Op>(r, p, where).run(); });
    });
  });
}

std::string unsupported(const problem& p, const backend::device& on, const registry::tuning&) {
  const std::string whole = divide::unsupported_by_members(p, on);
  return whole.empty() ? scan::parts_unsupported_by_members(scan_of(p, p.n()), on) : whole;
}

}  // namespace

std::vector<registry::variant> segment_scan_group_variants() {
  return {{.algorithm = "segment_scan",
           .backend = "group",
           .name = "",
           .types = all_dtypes,
           .source =
               "segments where their elements lie; of cut ones block values to all ranks, then a scan of each part "
               "with its carry",
           .unsupported = unsupported,
           .run = run}};
}

}  // namespace tilewise::impl::segment_scan
