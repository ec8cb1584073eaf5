// SPDX-License-Identifier: Apache-2.0
// The tunings of block-tree variants: each work-item holds a fixed number of elements of a tile, or of bytes for every
// type.
#pragma once

#include "order/block_tree.hpp"
#include "registry/tuning.hpp"

#include <tilewise/types.hpp>

namespace tilewise::registry {

inline constexpr std::array<tuning_axis, 2> block_tree_axes{
    {{"group_size", order::block_tree_groups, 256}, {"items", order::block_tree_items, 16}}};
inline constexpr std::array<tuning_axis, 2> byte_tree_axes{
    {{"group_size", order::block_tree_groups, 256}, {"item_bytes", order::block_tree_item_bytes, 128}}};

inline order::block_tree byte_tree_of(dtype type, const tuning& t) {
  const auto [group_size, bytes] = t.of(byte_tree_axes);
  return {group_size, bytes / static_cast<unsigned>(size_of(type))};
}

}  // namespace tilewise::registry
