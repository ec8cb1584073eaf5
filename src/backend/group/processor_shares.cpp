// SPDX-License-Identifier: Apache-2.0
#include "backend/group/processor_shares.hpp"

#include <algorithm>

namespace tilewise::backend::group {

unsigned processors_of(std::span<const processor_set> of_ranks, std::size_t index) {
  constexpr double rounding = 1e-6;  // three thirds are one
  double share = rounding;
  for (std::size_t i = 0; i < processor_set().size(); ++i)
    if (of_ranks[index][i])
      share += 1.0 / static_cast<double>(
                         std::count_if(of_ranks.begin(), of_ranks.end(), [i](const processor_set& s) { return s[i]; }));
  return std::max(1u, static_cast<unsigned>(share));
}

unsigned processors_of_all(std::span<const processor_set> of_ranks) {
  processor_set all;
  for (const processor_set& one : of_ranks) all |= one;
  return static_cast<unsigned>(all.count());
}

}  // namespace tilewise::backend::group
