// SPDX-License-Identifier: Apache-2.0
// What:   where sorted runs on several ranks are cut, so that what precedes the cuts begins their stable merge.
// Order:  smaller codes first; equal ones in order of rank, then of position.
// Shape:  the cut of a run lies in a bracket. In each round every rank offers samples of its bracket to all; from all
//         offers a rank knows, for each of its samples, how many elements precede it in the merge at least and at most.
//         The bracket shrinks to the part whose samples are not decided.
// Limits: if samples are at most an eighth of their bracket apart, a round leaves half of all brackets or less; with
//         1024 samples and usual keys it leaves a few thousandths, with 64 a few hundredths.
// Twins:  split.hpp, for runs that one process can read.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

namespace tilewise::impl::sort {

/// Elements [begin, end) of a run, the cut among them or at the end: a cut after no element is known.
struct bracket {
  std::uint64_t begin = 0, end = 0;

  std::uint64_t length() const { return end - begin; }
};

/// What a rank tells of its bracket: up to `most` samples at equal distances.
template <class Bits, std::uint64_t Most>
struct offer {
  static constexpr std::uint64_t most = Most;

  bracket of;
  std::uint64_t first = 0, distance = 1;  // of the samples, as elements
  std::uint64_t samples = 0;
  std::array<Bits, most> code = {};

  std::uint64_t at(std::uint64_t sample) const { return first + sample * distance; }
};

/// Where the cut of a run with so many of `all` elements can be at all, if `wanted` precede the cuts.
inline bracket first_bracket(std::uint64_t length, std::uint64_t all, std::uint64_t wanted) {
  const std::uint64_t others = all - length;
  return {wanted - std::min(wanted, others), std::min(length, wanted)};
}

/// How many elements precede one at least and at most, counted in brackets: nothing that is known to precede the cuts
/// is left out, and nothing is counted that is known not to. This leaves the answer to "fewer than wanted?" as it is.
struct place {
  std::uint64_t least = 0, most = 0;
};

/// The place of sample `s` of rank `own`; offers(k) is rank k's.
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

/// The first of [0, count) for which `holds` is true; true stays true.
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

/// What is left of the bracket of rank `own`, if `wanted` elements of all runs precede the cuts.
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
