// SPDX-License-Identifier: Apache-2.0
// Blocks of row-major matrices that are distributed over the ranks of a group.
#pragma once

#include "backend/group/rank.hpp"

namespace tilewise::backend::group {

/// A matrix in a group's memory, with rows `stride` bytes apart. Its shards may begin at any byte.
struct matrix {
  memory where;
  std::uint64_t stride;
};

/// Rows [row, row + rows) of a matrix, and in each row `width` bytes from byte `column` on.
struct block {
  std::uint64_t row = 0, rows = 0, column = 0, width = 0;

  std::uint64_t bytes() const { return rows * width; }
  bool operator==(const block&) const = default;
};

/// A block in the memory of one rank's device: in place if the rank holds all of it, otherwise in separate memory
/// without gaps between rows.
struct rank_block {
  rank_memory where;
  std::uint64_t stride;
};

/// The block of each rank. Every rank can compute all ranks' blocks, so they need not be sent.
using blocks = std::function<block(unsigned rank)>;

/// Collective: each rank gets its block of `wanted`; blocks may overlap.
rank_block fetch(const rank& r, const matrix& of, const blocks& wanted);

/// Memory for a block of a result, which `deliver` copies to its place.
rank_block result(const rank& r, const matrix& of, const block& computed);
/// Collective: copies the block that each rank has computed into the result. Blocks must not overlap; bytes between
/// them are unchanged.
void deliver(const rank& r, const matrix& to, const blocks& computed, const rank_block& from);

}  // namespace tilewise::backend::group
