// SPDX-License-Identifier: Apache-2.0
// The tree of products of halves for Karatsuba's method on devices, which compute it level by level.
#pragma once

#include "polymul/problem.hpp"
#include "registry/tuning.hpp"

namespace tilewise::impl::polymul {

inline constexpr std::array<unsigned, 3> karatsuba_depths{1, 3, 5};
inline constexpr std::array<unsigned, 2> karatsuba_bases{64, 512};
inline constexpr std::array<registry::tuning_axis, 2> karatsuba_axes{
    {{"depth", karatsuba_depths, 3}, {"base", karatsuba_bases, 512}}};

/// 3^depth leaves whose factors have length `leaf`.
struct karatsuba_tree {
  unsigned depth = 0;  // 0: no tree, and the tiles compute the whole product
  std::uint64_t leaves = 1, leaf;

  /// Splits a factor while its halves are at least `base` long. Does not split unequal factors if padding them to the
  /// same length costs more than splitting saves.
  karatsuba_tree(const sizes& s, const registry::tuning& t) {
    const auto [most, base] = t.of(karatsuba_axes);
    const std::uint64_t longer = std::max(s.n, s.m);
    for (; depth < most && longer >> (depth + 1) >= base; ++depth) leaves *= 3;
    leaf = (longer + (std::uint64_t{1} << depth) - 1) >> depth;
    const auto work = [](std::uint64_t n, std::uint64_t m) { return static_cast<double>(n) * static_cast<double>(m); };
    if (work(leaves * leaf, leaf) >= work(s.n, s.m)) depth = 0;
  }
  /// The size of all leaves of one factor.
  std::uint64_t factor_bytes() const { return leaves * leaf * sizeof(std::uint64_t); }
  std::uint64_t workspace_bytes() const { return depth == 0 ? 0 : 4 * factor_bytes(); }
};

/// A leaf's product as a problem, modulo 2^64.
inline registry::problem leaf_problem(const registry::problem& p, const karatsuba_tree& tree) {
  registry::problem of_leaf = p;
  of_leaf.type = dtype::i64;
  of_leaf.shape = {tree.leaf, tree.leaf};
  return of_leaf;
}

}  // namespace tilewise::impl::polymul
