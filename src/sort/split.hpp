// SPDX-License-Identifier: Apache-2.0
// What:   finds where to cut sorted runs so that the elements before the cuts are the first `rank` of their merge.
// Order:  that of a stable merge: smaller codes first; equal ones in the order of their runs.
// Source: Varman, Scheufler, Iyer, Ricard, Merging multiple lists on hierarchical-memory multiprocessors (1991), states
//         the problem; here the code at the cut is found bit by bit.
// Limits: reads at most (bits of a code) * log2(length) codes per run, so runs may lie on a disk.
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

/// Returns, for each run, how many of its elements are among the first `rank` of the merge. `rank` is at most the sum
/// of the lengths. code_at(run, index) must ascend within a run.
template <class Bits, class CodeAt>
std::vector<std::uint64_t> split_runs(std::span<const std::uint64_t> lengths, std::uint64_t rank,
                                      const CodeAt& code_at) {
  const auto sum = [](const std::vector<std::uint64_t>& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  };
  // In each run, the first `below` elements are less than `code`, and those from `above` on are greater than its final
  // value.
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
  std::uint64_t missing = rank - sum(below);  // elements equal to the code that still belong before the cuts
  for (std::size_t k = 0; k < lengths.size(); ++k) {
    const std::uint64_t taken = std::min(missing, above[k] - below[k]);
    below[k] += taken;
    missing -= taken;
  }
  return below;
}

}  // namespace tilewise::impl::sort
