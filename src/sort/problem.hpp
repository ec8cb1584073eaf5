// SPDX-License-Identifier: Apache-2.0
// How a sort is written as a registry::problem: shape {n}, settings order and payload.
#pragma once

#include "registry/algorithm.hpp"

#include <tilewise/sort.hpp>

namespace tilewise::impl::sort {

inline constexpr std::array<std::string_view, 2> order_words{"ascending", "descending"};
/// A value has 4 or 8 bytes; an index is the key's position in the input. Indices are an output only.
inline constexpr std::array<std::string_view, 4> payload_words{"none", "values32", "values64", "indices"};
using payload = detail::sort_payload;

const registry::algorithm& sort_algorithm();
registry::problem describe(const detail::request& r);  // sort.cpp
/// Throws `invalid_argument` unless all operands have as many elements as the keys, which are the first.
void require_one_size(std::span<const detail::argument> in, std::span<const detail::argument> out);
bool few(const detail::request& r);
extern const registry::division division;               // pieces.cpp
std::vector<registry::variant> sort_serial_variants();  // serial.cpp

inline bool is_descending(const registry::problem& p) { return p.setting[0] == 1; }
inline payload payload_of(const registry::problem& p) { return static_cast<payload>(p.setting[1]); }
inline bool has_values(const registry::problem& p) {
  return payload_of(p) == payload::values32 || payload_of(p) == payload::values64;
}
/// Bytes that move with a key.
inline std::size_t payload_size(payload what) { return what == payload::none ? 0 : what == payload::values64 ? 8 : 4; }

/// The sort of n elements of the array. Indices are those in the whole array, so they move as values.
inline registry::problem part_of(const registry::problem& p, std::uint64_t n) {
  registry::problem part = p;
  part.shape = {n};
  if (payload_of(p) == payload::indices) part.setting[1] = static_cast<std::uint8_t>(payload::values32);
  return part;
}

}  // namespace tilewise::impl::sort
