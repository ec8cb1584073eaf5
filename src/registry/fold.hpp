// SPDX-License-Identifier: Apache-2.0
// What reduce and scan have in common as problems: both combine the elements of an array with one of four operators.
#pragma once

#include "registry/algorithm.hpp"

namespace tilewise::registry::fold {

/// The settings "op" and "init".
inline constexpr std::array<std::string_view, all_ops.size()> op_words{name_of(op::sum), name_of(op::product),
                                                                       name_of(op::min), name_of(op::max)};
inline constexpr std::array<std::string_view, 2> init_words{"none", "given"};

/// Of a reduction of all its elements, or of its segments.
inline constexpr std::array<setting, 2> reduction_settings{{{"op", op_words}, {"init", init_words}}};

inline op operation_of(const problem& p) { return static_cast<op>(p.setting[0]); }

/// Whether the reduction of no elements has a value only if `init` is given.
inline bool needs_init(const problem& p) { return operation_of(p) == op::min || operation_of(p) == op::max; }

// Sizes near one element, one vector, one row, one tile and one group of tiles, and primes between them.
inline constexpr std::array<extents, 34> edge_shapes{{
    {0},    {1},    {2},    {3},    {4},    {5},     {7},     {8},      {9},      {15},      {16},   {17},
    {31},   {33},   {63},   {64},   {65},   {127},   {255},   {256},    {257},    {511},     {1021}, {1024},
    {1025}, {4095}, {4097}, {8191}, {8193}, {65536}, {65537}, {131071}, {262147}, {1048583},
}};
inline constexpr std::array<extents, 3> quick_shapes{{{1024}, {1048576}, {16777217}}};
inline constexpr std::array<extents, 10> normal_shapes{
    {{64}, {1024}, {4096}, {65536}, {262144}, {1048576}, {16777217}, {67108865}, {134217728}, {268435456}}};

}  // namespace tilewise::registry::fold
