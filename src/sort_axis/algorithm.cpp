// SPDX-License-Identifier: Apache-2.0
// The descriptor of sort_axis.
#include "base/lasting.hpp"
#include "call/call.hpp"
#include "sort_axis/problem.hpp"

#include <bit>

namespace tilewise::impl::sort_axis {

namespace {

using registry::extents;
using registry::operand;
using registry::problem;

constexpr std::array<registry::setting, 2> settings{{{"order", sort::order_words}, {"axis", registry::axis_words}}};

// No lines, lines without elements, one element; lines around the length that one thread, one warp and one tile hold,
// and of several tiles; many and few lines; gaps.
constexpr std::array<extents, 36> edge_shapes{{
    {0, 0},       {0, 5},           {5, 0},          {1, 1},
    {1, 2},       {2, 1},           {3, 1},          {100, 7},
    {7, 2},       {64, 4},          {15, 17},        {17, 15},
    {31, 65},     {65, 33},         {99, 5},         {63, 257},
    {257, 63},    {1, 4097},        {4097, 1},       {127, 513},
    {513, 127},   {257, 300},       {3, 16387},      {16387, 3},
    {4096, 16},   {16, 8192},       {2051, 40},      {8, 128},
    {5, 7, 9, 8}, {70, 33, 33, 64}, {2049, 5, 8, 5}, {3, 4225, 4226, 4240},
    {32771, 2},   {1, 65536},       {9, 4224},       {5, 4353, 4360, 4353},
}};
constexpr std::array<extents, 3> quick_shapes{{{1024, 1024}, {1048576, 3}, {3, 1048576}}};
constexpr std::array<extents, 9> normal_shapes{{{256, 256},
                                                {1024, 1024},
                                                {4096, 4096},
                                                {1048576, 3},
                                                {3, 1048576},
                                                {1048576, 64},
                                                {64, 1048576},
                                                {65536, 1024},
                                                {16384, 16384}}};

std::vector<operand> inputs(const problem& p) {
  const matrix_layout of = layout_of_input(p);
  return {{.name = "a", .type = p.type, .count = registry::elements_of(of), .row = registry::undivided(of)}};
}
std::vector<operand> outputs(const problem& p) {
  const matrix_layout of = layout_of_output(p);
  return {{.name = "y",
           .type = p.type,
           .count = registry::elements_of(of),
           .has_gaps = of.stride > of.columns,
           .row = registry::undivided(of)}};
}

double elements_of(const problem& p) { return static_cast<double>(p.shape[0]) * static_cast<double>(p.shape[1]); }
double compulsory_bytes(const problem& p) { return 2 * elements_of(p) * static_cast<double>(size_of(p.type)); }
/// The number of comparisons of a merge sort of each line.
double operations(const problem& p) {
  const std::uint64_t length = lines_of_input(p).length;
  return elements_of(p) * static_cast<double>(std::bit_width(length == 0 ? 0 : length - 1));
}

std::string invalid(const problem& p) {
  const std::string of_input = registry::invalid_matrix("A", layout_of_input(p), p.type);
  return of_input.empty() ? registry::invalid_matrix("the output", layout_of_output(p), p.type) : of_input;
}

problem describe(const detail::request& r) { return call::described_lines(sort_axis_algorithm(), r); }

}  // namespace

const registry::algorithm& sort_axis_algorithm() {
  static const registry::algorithm& descriptor = base::lasting([] {
    return registry::algorithm{
        .name = "sort_axis",
        .summary = "sort of each row or column of a matrix",
        .types = all_dtypes,
        .settings = settings,
        .numbers = {},
        .edge_shapes = edge_shapes,
        .quick_shapes = quick_shapes,
        .normal_shapes = normal_shapes,
        .inputs = inputs,
        .outputs = outputs,
        .compulsory_bytes = compulsory_bytes,
        .operations = operations,
        .invalid = invalid,
        .describe = describe,
        .speed_in = registry::speed_unit::elements,
        .in_place = true,
    };
  });
  return descriptor;
}

}  // namespace tilewise::impl::sort_axis
