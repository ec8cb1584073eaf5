// SPDX-License-Identifier: Apache-2.0
// What:   segment_reduce on the ranks of a group.
// Order:  a segment that a border cuts is reduced by the blocks of its parts, counted from its own begin; they are folded
//         in order of position.
// Shape:  every rank has all offsets. A rank reduces the segments that lie in its part, by its own variant, and sends
//         their results to where they belong. Elements do not travel: of a cut segment each rank computes the values of
//         the blocks that it holds, and the rank where the segment begins folds them.
// Limits: those of the members' variants; the offsets fit on the host of each rank.
// Twins:  reduce/group.cpp.
#include "divide/ranks.hpp"
#include "reduce/segment.hpp"
#include "segment_reduce/problem.hpp"

#include <algorithm>

namespace tilewise::impl::segment_reduce {

namespace {

using backend::memory;
using backend::group::byte_range;
using backend::group::part_of;
using backend::group::rank_memory;
using divide::rank;
using range = divide::row_range;  // of elements, or of segments
using registry::problem;

template <class T, class Op>
class segments_of_ranks {
 public:
  segments_of_ranks(const problem& p, const registry::bindings& where, const rank& r)
      : p_(p), x_(where.in[0]), values_(where.out[0]), rank_(r), offsets_(segments_of(p) + 1) {
    const std::uint64_t bytes = offsets_.size() * sizeof offsets_[0];
    const rank_memory all = r.fetch(where.in[1], [&](unsigned) { return byte_range{0, bytes}; });
    r.queue().download(offsets_.data(), all, bytes);
    require_segments(segmentation_of(p), offsets_);
  }

  void reduce() const {
    const range mine = segments_on(rank_.index()), whole = whole_ones(rank_.index());
    const rank_memory results = rank_.result(values_, bytes_of(mine));
    if (whole.size() != 0) reduce_whole(whole, memory(results).at(0, whole.size() * sizeof(T)));
    const std::vector<order::segment<T>> parts = gather_parts();
    if (whole.size() != mine.size()) {
      const T value = fold_cut(whole.end, parts);
      rank_.queue().upload(memory(results).at(whole.size() * sizeof(T), sizeof(T)), &value, sizeof(T));
    }
    rank_.deliver(
        values_, [&](unsigned k) { return bytes_of(segments_on(k)); }, results);
  }

 private:
  static byte_range bytes_of(range of) { return {of.begin * sizeof(T), of.end * sizeof(T)}; }
  std::uint64_t offset(std::uint64_t s) const { return static_cast<std::uint64_t>(offsets_[s]); }
  range elements_on(unsigned k) const { return divide::rows_in(part_of(x_, k), sizeof(T), p_.n()); }

  /// The first segment that begins at this element or later.
  std::uint64_t first_from(std::uint64_t element) const {
    const auto end = offsets_.end() - 1;
    return static_cast<std::uint64_t>(std::lower_bound(offsets_.begin(), end, static_cast<std::int64_t>(element)) -
                                      offsets_.begin());
  }
  /// The segments that begin on rank k; the last rank also has those that begin behind the last element.
  range segments_on(unsigned k) const {
    const std::uint64_t end = k + 1 == rank_.count() ? segments_of(p_) : first_from(elements_on(k).end);
    return {k == 0 ? 0 : first_from(elements_on(k).begin), end};
  }
  /// Those of them that also end there: all but at most the last one.
  range whole_ones(unsigned k) const {
    const range all = segments_on(k);
    return {all.begin, all.size() != 0 && offset(all.end) > elements_on(k).end ? all.end - 1 : all.end};
  }

  void reduce_whole(range of, const memory& to) const {
    std::vector<std::int64_t> own(offsets_.begin() + static_cast<std::ptrdiff_t>(of.begin),
                                  offsets_.begin() + static_cast<std::ptrdiff_t>(of.end) + 1);
    for (std::int64_t& offset : own) offset -= offsets_[of.begin];
    const backend::buffer there(rank_.queue(), own.size() * sizeof own[0]);
    rank_.queue().upload(there, own.data(), own.size() * sizeof own[0]);
    problem part = p_;
    part.shape = {offset(of.end) - offset(of.begin), of.size()};
    const memory elements = local(x_, rank_.index(), bytes_of({offset(of.begin), offset(of.end)}));
    divide::run_on_rank(rank_, part, {{elements, there}, {to}});
  }

  /// The blocks of a segment's elements in this rank's part, counted from the segment's begin.
  order::segment<T> blocks_here(std::uint64_t s) const {
    const range mine = elements_on(rank_.index());
    const range held{std::max(offset(s), mine.begin), std::min(offset(s + 1), mine.end)};
    const memory where = local(x_, rank_.index(), bytes_of(held));
    return reduce::segment_of<T>(detail::argument_for("x", rank_.view<T>(where)), held.begin - offset(s), Op::id);
  }

  /// Two of each rank: of the segment that began on an earlier rank, and of that which goes on behind this one. Parts
  /// of no segment are empty.
  std::vector<order::segment<T>> gather_parts() const {
    const unsigned k = rank_.index();
    const range mine = elements_on(k), of_rank = segments_on(k), whole = whole_ones(k);
    std::array<order::segment<T>, 2> own{};
    const bool continues = mine.size() != 0 && of_rank.begin != 0 && offset(of_rank.begin) > mine.begin;
    if (continues) own[0] = blocks_here(of_rank.begin - 1);
    if (whole.size() != of_rank.size()) own[1] = blocks_here(whole.end);
    return rank_.all_gather(std::span<const order::segment<T>>(own));
  }

  T fold_cut(std::uint64_t s, const std::vector<order::segment<T>>& parts) const {
    order::segment<T> all = parts[2 * rank_.index() + 1];
    for (unsigned k = rank_.index() + 1; all.end != offset(s + 1) - offset(s); ++k)
      if (elements_on(k).size() != 0) order::append<Op>(all, parts[2 * k]);
    return order::canonical(Op::template apply<T>(first_of<T, Op>(p_), order::fold<Op>(all)));
  }

  const problem& p_;
  const memory x_, values_;
  const rank& rank_;
  std::vector<std::int64_t> offsets_;
};

void run(const problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& queue) {
  with_type(p.type, [&]<class T>(T) {
    order::with_operator(operation_of(p), [&]<class Op>(Op) {
      divide::run_on_ranks(queue, p, where, [&](const rank& r) { segments_of_ranks<T, Op>(p, where, r).reduce(); });
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
