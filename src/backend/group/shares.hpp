// SPDX-License-Identifier: Apache-2.0
// How arrays are divided among the ranks of a group.
#pragma once

#include <cstdint>
#include <vector>

namespace tilewise::backend {
class queue;
}  // namespace tilewise::backend

namespace tilewise::backend::group {

/// Rank i gets the fraction share[i] / (sum of all shares). The sum is below 2^32.
using shares = std::vector<std::uint64_t>;

inline shares equal_shares(unsigned ranks) { return shares(ranks, 1); }

/// Shares in proportion to speeds in any unit. The fastest rank has 1000, every rank at least 1.
shares shares_by_speed(const std::vector<double>& speeds);

/// Measures a device's copy bandwidth in bytes per second. Uses about 1 % of its memory and takes a few milliseconds.
double copying_speed(backend::queue& q);

/// Divides whole rows in proportion to the shares, to within about 2 % of the smallest one. Borders are multiples of a
/// power of two, so that shards begin where large blocks of the order begin.
std::vector<std::uint64_t> borders_of_shares(std::uint64_t bytes, std::uint64_t row_bytes, const shares& of);

}  // namespace tilewise::backend::group
