// SPDX-License-Identifier: Apache-2.0
// What:   where sorted runs are cut, so that the elements before the cuts are the first of their merge.
// Order:  that of a stable merge: smaller codes first, equal ones run by run.
// Source: Varman, Scheufler, Iyer, Ricard, Merging multiple lists on hierarchical-memory multiprocessors (1991), has
//         the problem; here the code at the cut is found bit by bit.
// Limits: a code is asked for at most (bits of a code) * log2(length) times per run, so runs may lie on a disk.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace tilewise::impl::sort {

/// The first index in [first, last) whose code is not less; `last` if there is none.
template <class Bits, class CodeAt>
std::uint64_t lower_bound_in(std::uint64_t first, std::uint64_t last, Bits code, const CodeAt& code_at) {
  while (first < last) {
    const std::uint64_t middle = first + (last - first) / 2;
    if (code_at(middle) < code)
      first = middle + 1;
    else
      last = middle;
  }
  return first;
}

/// For each run, how many of its elements are among the first `rank` of all; rank is at most the sum of the lengths.
/// code_at(run, index) ascends within a run.
template <class Bits, class CodeAt>
std::vector<std::uint64_t> split_runs(std::span<const std::uint64_t> lengths, std::uint64_t rank,
                                      const CodeAt& code_at) {
  const auto sum = [](const std::vector<std::uint64_t>& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  };
  // Of each run, `below` elements are less than the code, and those from `above` on are greater than it will become.
  std::vector<std::uint64_t> below(lengths.size(), 0), above(lengths.begin(), lengths.end()), middle(lengths.size());
  Bits code = 0;
  for (Bits bit = Bits{1} << (std::numeric_limits<Bits>::digits - 1); bit != 0; bit >>= 1) {
    for (std::size_t k = 0; k < lengths.size(); ++k)
      middle[k] = lower_bound_in<Bits>(below[k], above[k], code | bit, [&](std::uint64_t i) { return code_at(k, i); });
    if (sum(middle) <= rank)
      below = middle, code |= bit;
    else
      above = middle;
  }
  std::uint64_t missing = rank - sum(below);  // elements that have this very code
  for (std::size_t k = 0; k < lengths.size(); ++k) {
    const std::uint64_t taken = std::min(missing, above[k] - below[k]);
    below[k] += taken;
    missing -= taken;
  }
  return below;
}

}  // namespace tilewise::impl::sort
