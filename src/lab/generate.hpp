// Inputs by a counter-based generator: element i depends on (data class, seed, type, i) alone, so every backend and
// every rank can make the same bytes by itself. Never zeros: they hide faults and run faster than real data.
#pragma once

#include <tilewise/types.hpp>

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

namespace tilewise::lab {

enum class data_class : std::uint8_t {
  uniform,     // [-1, 1) for floats, all bits for integers
  wide,        // exponents over half of the type's range: any change of the order changes bits
  cancelling,  // large values of both signs that nearly cancel
  subnormal,
  zeros,     // +0.0 and -0.0 mixed (integers: 0 and 1)
  infinite,  // uniform with a few infinities of one sign (integers: extremes)
  nan,       // uniform with a few NaNs of many payloads (integers: uniform)
  sorted,
  equal,  // one value that is not representable as a short sum
};
inline constexpr std::array all_data_classes{data_class::uniform,   data_class::wide,   data_class::cancelling,
                                             data_class::subnormal, data_class::zeros,  data_class::infinite,
                                             data_class::nan,       data_class::sorted, data_class::equal};
std::string_view name_of(data_class data);

/// Elements [first, first + count) into `out`, which has room for count elements of `type`.
void generate(data_class data, std::uint64_t seed, dtype type, std::uint64_t first, std::uint64_t count, void* out);

std::vector<std::byte> generate(data_class data, std::uint64_t seed, dtype type, std::uint64_t count);

}  // namespace tilewise::lab
