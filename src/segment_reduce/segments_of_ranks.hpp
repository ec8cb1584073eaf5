// SPDX-License-Identifier: Apache-2.0
// The segments of an array that lies on the ranks of a group, for the group variants of all algorithms with segments.
// Every rank has all offsets. To fold a segment that a border cuts, elements do not travel: each rank computes the
// values of the blocks that it holds, counted from the segment's begin, and all ranks get them.
#pragma once

#include "divide/ranks.hpp"
#include "reduce/segment.hpp"
#include "segment_reduce/offsets.hpp"

#include <algorithm>

namespace tilewise::impl::segment_reduce {

/// Of each rank two: of the segment that began on an earlier rank, and of the one that goes on behind this rank. Parts
/// of no segment are empty.
template <class T>
using parts_of_ranks = std::vector<order::segment<T>>;

class segments_of_ranks {
 public:
  using byte_range = backend::group::byte_range;
  using range = divide::row_range;  // of elements, or of segments
  static constexpr std::uint64_t no_segment = ~std::uint64_t{0};

  /// Collective. Throws like require_segments. `x` has elements of `width` bytes.
  segments_of_ranks(const segmentation& of, const backend::memory& x, std::size_t width, const backend::memory& offsets,
                    const divide::rank& r)
      : of_(of), x_(x), width_(width), rank_(r), offsets_(of.segments + 1) {
    const std::uint64_t bytes = offsets_.size() * sizeof offsets_[0];
    const backend::group::rank_memory all = r.fetch(offsets, [&](unsigned) { return byte_range{0, bytes}; });
    r.queue().download(offsets_.data(), all, bytes);
    require_segments(of_, offsets_);
  }

  byte_range bytes_of(range of) const { return {of.begin * width_, of.end * width_}; }
  std::uint64_t offset(std::uint64_t s) const { return static_cast<std::uint64_t>(offsets_[s]); }
  range elements_on(unsigned k) const { return divide::rows_in(backend::group::part_of(x_, k), width_, of_.elements); }
  /// Those of segments that follow one another.
  range elements_of(range segments) const { return {offset(segments.begin), offset(segments.end)}; }
  /// Those of a segment that this rank holds.
  range elements_here(std::uint64_t s) const {
    const range mine = elements_on(rank_.index());
    return {std::max(offset(s), mine.begin), std::min(offset(s + 1), mine.end)};
  }
  /// The memory of elements that this rank holds.
  backend::memory memory_of(range elements) const { return local(x_, rank_.index(), bytes_of(elements)); }

  /// The segments that begin on rank k; the last rank also has those that begin behind the last element.
  range segments_on(unsigned k) const {
    const std::uint64_t end = k + 1 == rank_.count() ? of_.segments : first_from(elements_on(k).end);
    return {k == 0 ? 0 : first_from(elements_on(k).begin), end};
  }
  /// Those of them that also end there: all but at most the last one.
  range whole_ones(unsigned k) const {
    const range all = segments_on(k);
    return {all.begin, all.size() != 0 && offset(all.end) > elements_on(k).end ? all.end - 1 : all.end};
  }
  /// The segments whose parts on rank k are in `parts`, in that order; no_segment where there is none.
  std::array<std::uint64_t, 2> cut_ones(unsigned k) const {
    const range mine = elements_on(k), all = segments_on(k), whole = whole_ones(k);
    const bool continues = mine.size() != 0 && all.begin != 0 && offset(all.begin) > mine.begin;
    return {continues ? all.begin - 1 : no_segment, whole.end != all.end ? whole.end : no_segment};
  }

  /// Runs the algorithm of `p` on segments that lie whole on this rank; `where` has all operands but x, which is the
  /// first input, and the offsets, which are the last one.
  void run_whole(const registry::problem& p, range segments, registry::bindings where) const {
    std::vector<std::int64_t> own(offsets_.begin() + static_cast<std::ptrdiff_t>(segments.begin),
                                  offsets_.begin() + static_cast<std::ptrdiff_t>(segments.end) + 1);
    for (std::int64_t& offset : own) offset -= offsets_[segments.begin];
    const backend::buffer there(rank_.queue(), own.size() * sizeof own[0]);
    rank_.queue().upload(there, own.data(), own.size() * sizeof own[0]);
    const range elements = elements_of(segments);
    registry::problem part = p;
    part.shape = {elements.size(), segments.size()};
    where.in[0] = memory_of(elements);
    where.in[p.what->inputs(part).size() - 1] = there;
    divide::run_on_rank(rank_, part, where);
  }

  /// Collective: the block values of all cut segments.
  template <class T>
  parts_of_ranks<T> gather_parts(op operation) const {
    std::array<order::segment<T>, 2> own{};
    const std::array<std::uint64_t, 2> cut = cut_ones(rank_.index());
    for (unsigned i = 0; i < 2; ++i)
      if (cut[i] != no_segment) own[i] = blocks_here<T>(cut[i], operation);
    return rank_.all_gather(std::span<const order::segment<T>>(own));
  }
  /// The blocks of segment s that lie on ranks before `end`.
  template <class Op, class T>
  order::segment<T> blocks_before(unsigned end, std::uint64_t s, const parts_of_ranks<T>& all) const {
    order::segment<T> joined{};
    for (unsigned k = 0; k < end; ++k) {
      const std::array<std::uint64_t, 2> cut = cut_ones(k);
      for (unsigned i = 0; i < 2; ++i)
        if (cut[i] == s) order::append<Op>(joined, all[2 * k + i]);
    }
    return joined;
  }

 private:
  /// The first segment that begins at this element or later.
  std::uint64_t first_from(std::uint64_t element) const {
    const auto end = offsets_.end() - 1;
    return static_cast<std::uint64_t>(std::lower_bound(offsets_.begin(), end, static_cast<std::int64_t>(element)) -
                                      offsets_.begin());
  }
  template <class T>
  order::segment<T> blocks_here(std::uint64_t s, op operation) const {
    const range held = elements_here(s);
    const backend::memory where = memory_of(held);
    return reduce::segment_of<T>(detail::argument_for("x", rank_.view<T>(where)), held.begin - offset(s), operation);
  }

  const segmentation of_;
  const backend::memory x_;
  const std::size_t width_;
  const divide::rank& rank_;
  std::vector<std::int64_t> offsets_;
};

}  // namespace tilewise::impl::segment_reduce
