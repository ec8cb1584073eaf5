// SPDX-License-Identifier: Apache-2.0
// What:   finds where to cut sorted runs on several ranks so that the elements before the cuts are the first of their
//         stable merge.
// Order:  smaller codes first; equal ones in order of rank, then of position.
// Shape:  each rank keeps a bracket: the range of its run in which the cut lies. In each round every rank sends samples
//         of its bracket to all others. From these a rank bounds, for each of its own samples, how many elements
//         precede it in the merge. The bracket shrinks to the samples whose side of the cut these bounds leave open.
// Limits: if samples are at most an eighth of their bracket apart, a round leaves at most half of the elements in
//         brackets; with 1024 samples and usual keys it leaves a few thousandths, with 64 a few hundredths.
// Twins:  split.hpp, for runs that one process can read.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

namespace tilewise::impl::sort {

/// The cut is at some index of [begin, end], both included. It is known if begin == end.
struct bracket {
  std::uint64_t begin = 0, end = 0;

  std::uint64_t length() const { return end - begin; }
};

/// What a rank sends about its bracket: up to `most` samples at equal distances.
template <class Bits, std::uint64_t Most>
struct offer {
  static constexpr std::uint64_t most = Most;

  bracket of;
  std::uint64_t first = 0, distance = 1;  // index of the first sample, and elements from one to the next
  std::uint64_t samples = 0;
  std::array<Bits, most> code = {};

  std::uint64_t at(std::uint64_t sample) const { return first + sample * distance; }
};

/// The initial bracket of a run of `length` elements, if all runs have `all` elements and `wanted` precede the cuts.
inline bracket first_bracket(std::uint64_t length, std::uint64_t all, std::uint64_t wanted) {
  const std::uint64_t others = all - length;
  return {wanted - std::min(wanted, others), std::min(length, wanted)};
}

/// Bounds on how many elements precede one. Elements outside the brackets are already decided: those before a bracket
/// always count, those after it never do. This does not change the answer to "fewer than wanted?".
struct place {
  std::uint64_t least = 0, most = 0;
};

/// The bounds for sample `s` of rank `own`; offers(k) is the offer of rank k.
template <class Offers>
place place_of(const Offers& offers, unsigned ranks, unsigned own, std::size_t s) {
  const auto code = offers(own).code[s];
  place sum{offers(own).at(s), offers(own).at(s)};
  for (unsigned k = 0; k < ranks; ++k) {
    if (k == own) continue;
    const auto& other = offers(k);
    const auto first = other.code.begin(), last = first + static_cast<std::ptrdiff_t>(other.samples);
    const auto after = k < own ? std::upper_bound(first, last, code) : std::lower_bound(first, last, code);
    const auto before = static_cast<std::size_t>(after - first);
    sum.least += before == 0 ? other.of.begin : other.at(before - 1) + 1;
    sum.most += before == other.samples ? other.of.end : other.at(before);
  }
  return sum;
}

/// The first index in [0, count) for which `holds` is true; `count` if there is none. Once true, it must stay true.
template <class Predicate>
std::size_t first_where(std::size_t count, const Predicate& holds) {
  std::size_t first = 0;
  while (first < count) {
    const std::size_t middle = first + (count - first) / 2;
    if (holds(middle))
      count = middle;
    else
      first = middle + 1;
  }
  return first;
}

/// The bracket of rank `own` after this round, if `wanted` elements of all runs precede the cuts.
template <class Offers>
bracket narrowed(const Offers& offers, unsigned ranks, unsigned own, std::uint64_t wanted) {
  const auto& mine = offers(own);
  const auto place_at = [&](std::size_t s) { return place_of(offers, ranks, own, s); };
  const std::size_t in_doubt = first_where(mine.samples, [&](std::size_t s) { return place_at(s).most >= wanted; });
  const std::size_t after = first_where(mine.samples, [&](std::size_t s) { return place_at(s).least >= wanted; });
  return {in_doubt == 0 ? mine.of.begin : mine.at(in_doubt - 1) + 1,
          after == mine.samples ? mine.of.end : mine.at(after)};
}

}  // namespace tilewise::impl::sort
