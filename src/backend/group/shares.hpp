// SPDX-License-Identifier: Apache-2.0
// How much of an array each rank of a group has.
#pragma once

#include <cstdint>
#include <vector>

namespace tilewise::backend {
class queue;
}  // namespace tilewise::backend

namespace tilewise::backend::group {

/// Of rank i: share[i] in so many as all have together, which is below 2^32.
using shares = std::vector<std::uint64_t>;

inline shares equal_shares(unsigned ranks) { return shares(ranks, 1); }

/// In proportion to speeds of any unit, the fastest 1000; none is less than 1.
shares shares_by_speed(const std::vector<double>& speeds);

/// Bytes per second that a device reads and writes in its own memory, at about 1 % of what it has, in a few
/// milliseconds.
double copying_speed(backend::queue& q);

/// Rows as the shares say, to about 2 % of the smallest: borders are multiples of a power of two, so that parts begin
/// where large blocks of the order do.
std::vector<std::uint64_t> borders_of_shares(std::uint64_t bytes, std::uint64_t row_bytes, const shares& of);

}  // namespace tilewise::backend::group
