// SPDX-License-Identifier: Apache-2.0
// Inputs by a counter-based generator: element i depends on (data class, seed, type, i) alone, so every backend and
// every rank can make the same bytes by itself. Built from bits, exact arithmetic and correctly rounded sums and
// products, so that they are the same on every machine. Never all zeros: those hide faults and run faster than real
// data.
#pragma once

#include <tilewise/types.hpp>

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

namespace tilewise::lab {

/// What the elements are, and which faults they expose. A product of `uniform` floats underflows to zero and one of
/// `uniform` integers wraps to zero within a few hundred elements: products are judged on `near_one` and `wide`.
enum class data_class : std::uint8_t {
  uniform,     // [-1, 1), all bits for integers: sums in another order, lost or doubled elements; the one for measuring
  wide,        // exponents over half the type's range, any block's product in range: another order, lost carries
  near_one,    // +-(1 +- 2^-10), odd integers: products in another order, since none vanishes or overflows
  cancelling,  // large values of both signs that nearly cancel within 1024 elements: contraction, wider accumulators
  subnormal,   // below the smallest normal float, small integers: flushing to zero
  zeros,     // nearly all -0.0 for even seeds, +0.0 for odd ones, 0 and 1: a wrong identity, signs of zero in min, max
  infinite,  // near_one with a few infinities of one sign, extremes: identities that turn infinity to NaN, saturation
  nan,       // near_one with a few NaNs of all signs and payloads: NaNs lost by min or max, or not made canonical
  sorted,    // ascending for even seeds, descending for odd ones: every prefix max or min is new, so a lost one shows
  equal,     // one value with many significant bits: a shifted count of elements
  opposed,   // near_one with some infinities of both signs: NaNs that come up late, and are not made canonical
};
inline constexpr std::array all_data_classes{data_class::uniform,    data_class::wide,      data_class::near_one,
                                             data_class::cancelling, data_class::subnormal, data_class::zeros,
                                             data_class::infinite,   data_class::nan,       data_class::sorted,
                                             data_class::equal,      data_class::opposed};
/// What is worth a measurement of its own, since some methods are faster or slower with it.
inline constexpr std::array measured_data_classes{data_class::uniform, data_class::wide, data_class::subnormal,
                                                  data_class::sorted, data_class::equal};
std::string_view name_of(data_class data);

/// Elements [first, first + count) into `out`, which has room for count elements of `type`.
void generate(data_class data, std::uint64_t seed, dtype type, std::uint64_t first, std::uint64_t count, void* out);

std::vector<std::byte> generate(data_class data, std::uint64_t seed, dtype type, std::uint64_t count);

}  // namespace tilewise::lab
