// SPDX-License-Identifier: Apache-2.0
// Makes inputs with a counter-based generator: element i depends on (data class, seed, type, i) alone, so every backend
// and every rank can make the same bytes by itself. It uses only bit operations, exact arithmetic and correctly rounded
// sums and products, so the inputs are the same on every machine. Inputs are never all zeros, which would hide faults
// and run faster than real data.
#pragma once

#include <tilewise/types.hpp>

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

namespace tilewise::lab {

/// The kinds of elements, and the faults that each exposes. Products are tested with `near_one` and `wide`: within a
/// few hundred elements, a product of `uniform` floats underflows to zero and one of `uniform` integers wraps to zero.
enum class data_class : std::uint8_t {
  uniform,     // [-1, 1), all bits for integers: sums in another order, lost or doubled elements; the usual class
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
/// Data classes that are worth measuring, since some methods are faster or slower with them.
inline constexpr std::array measured_data_classes{data_class::uniform, data_class::wide, data_class::subnormal,
                                                  data_class::sorted, data_class::equal};
std::string_view name_of(data_class data);

/// Writes elements [first, first + count) to `out`, which must have room for them.
void generate(data_class data, std::uint64_t seed, dtype type, std::uint64_t first, std::uint64_t count, void* out);

std::vector<std::byte> generate(data_class data, std::uint64_t seed, dtype type, std::uint64_t count);

}  // namespace tilewise::lab
