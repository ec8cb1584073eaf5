// SPDX-License-Identifier: Apache-2.0
// Blocks of row-major matrices that lie on the ranks of a group.
#pragma once

#include "backend/group/rank.hpp"

namespace tilewise::backend::group {

/// In a group's memory; rows begin `stride` bytes apart. Ranks may have any ranges of its bytes.
struct matrix {
  memory where;
  std::uint64_t stride;
};

/// Some rows of a matrix, and of these `width` bytes from byte `column` on.
struct block {
  std::uint64_t row = 0, rows = 0, column = 0, width = 0;

  std::uint64_t bytes() const { return rows * width; }
  bool operator==(const block&) const = default;
};

/// A block in the memory of one rank's device: where it lies, if the rank has all of it, else memory of its own without
/// gaps between rows.
struct rank_block {
  rank_memory where;
  std::uint64_t stride;
};

/// A block for each rank. Every rank can tell those of all, so that nobody has to ask.
using blocks = std::function<block(unsigned rank)>;

/// Together: each rank gets its block of `wanted`; they may overlap.
rank_block fetch(const rank& r, const matrix& of, const blocks& wanted);

/// Memory for a block of a result, which `deliver` brings to its place.
rank_block result(const rank& r, const matrix& of, const block& computed);
/// Together: what each rank has computed of a result; blocks do not overlap, and what lies between them stays.
void deliver(const rank& r, const matrix& to, const blocks& computed, const rank_block& from);

}  // namespace tilewise::backend::group
