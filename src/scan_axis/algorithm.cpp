// SPDX-License-Identifier: Apache-2.0
// The descriptor of scan_axis.
#include "base/lasting.hpp"
#include "call/call.hpp"
#include "scan_axis/problem.hpp"

namespace tilewise::impl::scan_axis {

namespace {

using registry::extents;
using registry::operand;
using registry::problem;

constexpr std::array<registry::setting, 4> settings{{{"op", registry::fold::op_words},
                                                     {"kind", scan::kind_words},
                                                     {"init", registry::fold::init_words},
                                                     {"axis", registry::axis_words}}};
constexpr std::array<std::string_view, 1> numbers{"init"};

// No lines, lines without elements, one element; tall and wide matrices around one vector, one strip and one tile;
// gaps.
constexpr std::array<extents, 38> edge_shapes{{
    {0, 0},          {0, 5},
    {5, 0},          {1, 1},
    {1, 2},          {2, 1},
    {1, 3},          {3, 1},
    {100, 7},        {70, 6},
    {7, 2},          {64, 4},
    {15, 17},        {17, 15},
    {31, 65},        {65, 31},
    {99, 5},         {63, 257},
    {257, 63},       {1, 4097},
    {4097, 1},       {127, 513},
    {513, 127},      {257, 300},
    {3, 16387},      {16387, 3},
    {4096, 16},      {16, 8192},
    {2051, 40},      {8, 128},
    {5, 7, 9, 8},    {70, 33, 33, 64},
    {2049, 5, 8, 5}, {3, 4099, 4100, 4112},
    {2049, 3, 4, 5}, {2049, 2, 3, 2},
    {32771, 2},      {1, 65536},
}};
constexpr std::array<extents, 3> quick_shapes{{{1024, 1024}, {1048576, 3}, {3, 1048576}}};
constexpr std::array<extents, 8> normal_shapes{
    {{256, 256}, {1024, 1024}, {4096, 4096}, {1048576, 3}, {3, 1048576}, {1048576, 16}, {16, 1048576}, {16384, 16384}}};

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

double operations(const problem& p) { return static_cast<double>(p.shape[0]) * static_cast<double>(p.shape[1]); }
double compulsory_bytes(const problem& p) { return 2 * operations(p) * static_cast<double>(size_of(p.type)); }

std::string invalid(const problem& p) {
  for (const auto& why : {scan::lacks_init(p), registry::invalid_matrix("A", layout_of_input(p), p.type),
                          registry::invalid_matrix("the output", layout_of_output(p), p.type)})
    if (!why.empty()) return why;
  return "";
}

problem describe(const detail::request& r) { return call::described_lines(scan_axis_algorithm(), r); }

}  // namespace

const registry::algorithm& scan_axis_algorithm() {
  static const registry::algorithm& descriptor = base::lasting([] {
    return registry::algorithm{
        .name = "scan_axis",
        .summary = "running sum, product, minimum or maximum along each row or column of a matrix",
        .types = all_dtypes,
        .settings = settings,
        .numbers = numbers,
        .edge_shapes = edge_shapes,
        .quick_shapes = quick_shapes,
        .normal_shapes = normal_shapes,
        .inputs = inputs,
        .outputs = outputs,
        .compulsory_bytes = compulsory_bytes,
        .operations = operations,
        .invalid = invalid,
        .describe = describe,
        .in_place = true,
    };
  });
  return descriptor;
}

}  // namespace tilewise::impl::scan_axis
