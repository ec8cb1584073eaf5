// SPDX-License-Identifier: Apache-2.0
// The offsets of segments, for all algorithms that have some: segment s is x[offsets[s] .. offsets[s + 1]).
#pragma once

#include "registry/algorithm.hpp"

#include <span>

namespace tilewise::impl::segment_reduce {

/// How many elements are cut into how many segments.
struct segmentation {
  std::uint64_t elements, segments;
  std::string_view no_value;  // the operation that has no value for an empty segment; empty: segments may be
};

/// The offsets, where memory has addresses.
inline std::span<const std::int64_t> offsets_of(const registry::problem& p, const registry::bindings& where) {
  return {where.in[1].as<const std::int64_t>(), p.shape[1] + 1};
}

/// The segmentation of a call whose first operand is x and whose last one is the offsets. Throws `invalid_argument` for
/// offsets of another type, and for none.
segmentation described(const detail::request& r);
/// The error message if no offsets cut so many elements into so many segments; otherwise empty.
std::string impossible(const segmentation& of);

/// Throws `invalid_argument`, and names the place, unless the offsets begin with 0, never fall and end with the number
/// of elements, and unless each segment has a value.
void require_segments(const segmentation& of, std::span<const std::int64_t> offsets);
/// The same for offsets on the queue's device, which are downloaded for it. Waits.
void require_segments_on(const segmentation& of, const backend::memory& offsets, backend::queue& queue);
/// For offsets in which the device has found a fault: names it.
[[noreturn]] void refuse_offsets(const segmentation& of, const backend::memory& offsets, backend::queue& queue);

/// Makes segments of all lengths of generated numbers: half of the cuts lie anywhere, a quarter by a power law, so that
/// segments are short at the beginning and long at the end, and a quarter where another one is.
void fit_offsets(const segmentation& of, std::span<std::byte> generated);

// Nothing; empty segments alone; one segment; more segments than elements, as many, and a few long ones; around one
// tile of elements, of segments, and of both.
inline constexpr std::array<registry::extents, 27> edge_shapes{{
    {0, 0},         {0, 1},          {0, 5},
    {1, 1},         {1, 3},          {2, 1},
    {2, 2},         {3, 2},          {17, 1},
    {17, 17},       {100, 7},        {255, 300},
    {1024, 1},      {1025, 3},       {4095, 511},
    {4097, 2},      {4099, 4096},    {8191, 1},
    {8193, 8193},   {10, 5000},      {65537, 5},
    {65536, 1},     {131071, 90},    {131073, 1},
    {262147, 3001}, {262147, 5'003}, {1048583, 40'009},
}};
inline constexpr std::array<registry::extents, 2> quick_shapes{{{1048576, 131072}, {16777216, 4096}}};
inline constexpr std::array<registry::extents, 6> normal_shapes{{{1048576, 131072},
                                                                 {16777216, 2097152},
                                                                 {16777216, 4096},
                                                                 {67108864, 8388608},
                                                                 {67108864, 655360},
                                                                 {67108864, 64}}};

}  // namespace tilewise::impl::segment_reduce
