// SPDX-License-Identifier: Apache-2.0
// The descriptor of sort.
#include "base/lasting.hpp"
#include "sort/problem.hpp"

#include <bit>

namespace tilewise::impl::sort {

namespace {

using registry::extents;
using registry::operand;
using registry::problem;

constexpr std::array<registry::setting, 2> settings{{{"order", order_words}, {"payload", payload_words}}};

// Around one element, one vector, one row, one tile and one group of tiles, and primes between.
constexpr std::array<extents, 34> edge_shapes{{
    {0},    {1},    {2},    {3},    {4},    {5},    {7},     {8},     {9},      {15},     {16},   {17},
    {31},   {33},   {63},   {64},   {65},   {127},  {255},   {256},   {257},    {511},    {1021}, {1024},
    {1025}, {4095}, {4097}, {5633}, {8191}, {8193}, {65536}, {65537}, {131071}, {262147},
}};
constexpr std::array<extents, 3> quick_shapes{{{1024}, {65536}, {1048576}}};
constexpr std::array<extents, 7> normal_shapes{{{64}, {1024}, {65536}, {1048576}, {16777216}, {67108864}, {268435456}}};

dtype payload_type(const problem& p) { return payload_of(p) == payload::values64 ? dtype::u64 : dtype::u32; }

std::vector<operand> inputs(const problem& p) {
  std::vector<operand> all{{"x", p.type, p.n()}};
  if (has_values(p)) all.push_back({"values", payload_type(p), p.n()});
  return all;
}
std::vector<operand> outputs(const problem& p) {
  std::vector<operand> all{{"y", p.type, p.n()}};
  if (has_values(p)) all.push_back({"values_out", payload_type(p), p.n()});
  if (payload_of(p) == payload::indices) all.push_back({"indices", payload_type(p), p.n()});
  return all;
}

/// The number of comparisons of a merge sort.
double operations(const problem& p) {
  return static_cast<double>(p.n()) * static_cast<double>(std::bit_width(p.n() == 0 ? 0 : p.n() - 1));
}

std::string invalid(const problem& p) {
  if (payload_of(p) == payload::indices && p.n() > std::uint64_t{1} << 32)
    return std::to_string(p.n()) + " elements are too many for 32-bit indices; sort them with 64-bit values instead";
  return "";
}

}  // namespace

const registry::algorithm& sort_algorithm() {
  static const registry::algorithm& descriptor = base::lasting([] {
    return registry::algorithm{
        .name = "sort",
        .summary = "stable sort of keys, alone, with values or with their indices",
        .types = all_dtypes,
        .settings = settings,
        .numbers = {},
        .edge_shapes = edge_shapes,
        .quick_shapes = quick_shapes,
        .normal_shapes = normal_shapes,
        .inputs = inputs,
        .outputs = outputs,
        .operations = operations,
        .invalid = invalid,
        .describe = describe,
        .few = few,
        .divides = &division,
        .speed_in = registry::speed_unit::elements,
        .in_place = true,
    };
  });
  return descriptor;
}

}  // namespace tilewise::impl::sort
