// SPDX-License-Identifier: Apache-2.0
// What:   segment_sort on the ranks of a group.
// Order:  that of the members' variants, and of sort/group.
// Shape:  every rank has all offsets. A rank sorts the segments that lie in its part, by its own variant. Then each
//         segment that a border cuts is a sort of the group; there is at most one for each border.
// Limits: those of the members' variants and of sort/group; the offsets fit on the host of each rank.
// Twins:  segment_scan/group.cpp, sort/group/variants.cpp.
#include "divide/each_line.hpp"
#include "segment_reduce/segments_of_ranks.hpp"
#include "segment_sort/alone.hpp"

namespace tilewise::impl::segment_sort {

namespace {

using backend::memory;
using backend::group::byte_range;
using backend::group::rank_memory;
using divide::rank;
using registry::problem;
using segments = segment_reduce::segments_of_ranks;

class sort_on_rank {
 public:
  sort_on_rank(const rank& r, const problem& p, const registry::bindings& where)
      : rank_(r),
        p_(p),
        where_(where),
        width_{size_of(p.type), payload_size(payload_of(p))},
        segments_(segmentation_of(p), where.in[0], width_[0], offsets_memory(p, where), r) {}

  /// Collective: sorts the segments that no border cuts.
  void sort_whole() const {
    const segments::range whole = segments_.whole_ones(rank_.index());
    const rank_memory values = has_values(p_) ? rank_.fetch(where_.in[1], ranges(1)) : rank_memory({});
    const rank_memory keys_out = rank_.result(where_.out[0], range(0, rank_.index()));
    const rank_memory values_out =
        width_[1] == 0 ? rank_memory({}) : rank_.result(where_.out[1], range(1, rank_.index()));
    if (segments_.elements_of(whole).size() != 0)
      segments_.run_whole(p_, whole, {.in = {memory{}, values}, .out = {keys_out, values_out}});
    rank_.deliver(where_.out[0], ranges(0), keys_out);
    if (width_[1] != 0) rank_.deliver(where_.out[1], ranges(1), values_out);
  }

  /// The elements of each segment that a border cuts.
  std::vector<segments::range> cut_ones() const {
    std::vector<segments::range> all;
    for (unsigned k = 0; k < rank_.count(); ++k)
      if (const std::uint64_t s = segments_.cut_ones(k)[1]; s != segments::no_segment)
        all.push_back(segments_.elements_of({s, s + 1}));
    return all;
  }

 private:
  /// The bytes of keys (0) or of values (1) in the whole segments of a rank.
  byte_range range(std::size_t operand, unsigned k) const {
    const segments::range elements = segments_.elements_of(segments_.whole_ones(k));
    return {elements.begin * width_[operand], elements.end * width_[operand]};
  }
  backend::group::ranges ranges(std::size_t operand) const {
    return [this, operand](unsigned k) { return range(operand, k); };
  }

  const rank& rank_;
  const problem& p_;
  const registry::bindings& where_;
  const std::array<std::size_t, 2> width_;
  const segments segments_;
};

void run(const problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& queue) {
  std::vector<segments::range> cut;
  const unsigned first_here = backend::group::enter(queue).first_rank();
  divide::run_on_ranks(queue, p, where, [&](const rank& r) {
    const sort_on_rank one(r, p, where);
    if (r.index() == first_here) cut = one.cut_ones();
    one.sort_whole();
  });
  for (const segments::range& s : cut) sort_alone(p, where, s.begin, s.size(), queue);
}

std::string unsupported(const problem& p, const backend::device& on, const registry::tuning&) {
  const std::string whole = divide::unsupported_by_members(p, on);
  return whole.empty() ? divide::each_line_unsupported(sort_of(p, p.n()), on) : whole;
}

}  // namespace

std::vector<registry::variant> segment_sort_group_variants() {
  return {
      {.algorithm = "segment_sort",
       .backend = "group",
       .name = "",
       .types = all_dtypes,
       .source = "segments where their elements lie, by each rank's own variant; cut ones by all, as sort/group does",
       .unsupported = unsupported,
       .run = run}};
}

}  // namespace tilewise::impl::segment_sort
