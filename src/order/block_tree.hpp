// SPDX-License-Identifier: Apache-2.0
// The host's side of block_tree.cl: the size of a work-group's tile, and where the levels of tile values begin.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>

namespace tilewise::order {

struct block_tree {
  unsigned group_size, items;  // powers of two

  std::uint64_t tile() const { return std::uint64_t{group_size} * items; }
  std::string definitions() const {
    return " -DTW_LOG_GROUP=" + std::to_string(std::countr_zero(group_size)) +
           " -DTW_LOG_ITEMS=" + std::to_string(std::countr_zero(items));
  }
};

/// The values that are tuned.
inline constexpr std::array<unsigned, 4> block_tree_groups{64, 128, 256, 512};
inline constexpr std::array<unsigned, 3> block_tree_items{8, 16, 32};
inline constexpr std::array<unsigned, 3> block_tree_item_bytes{32, 64, 128};  // instead of a number of items

/// Elements to allocate for a level of `count` values. Each level begins at a multiple of 16 elements, as in
/// tw_level_first.
constexpr std::uint64_t level_room(std::uint64_t count) { return (count + 15) / 16 * 16; }

}  // namespace tilewise::order
