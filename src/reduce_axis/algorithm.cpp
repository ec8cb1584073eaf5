// SPDX-License-Identifier: Apache-2.0
// The descriptor of reduce_axis.
#include "base/lasting.hpp"
#include "call/call.hpp"
#include "reduce_axis/problem.hpp"
#include "registry/matrix_shape.hpp"

namespace tilewise::impl::reduce_axis {

namespace {

using registry::extents;
using registry::operand;
using registry::problem;

constexpr std::array<registry::setting, 3> settings{
    {{"op", registry::fold::op_words}, {"init", registry::fold::init_words}, {"axis", registry::axis_words}}};
constexpr std::array<std::string_view, 1> numbers{"init"};

// No lines, lines without elements, one element; tall and wide matrices around one vector, one strip and one tile;
// gaps.
constexpr std::array<extents, 36> edge_shapes{{
    {0, 0},          {0, 5},     {5, 0},       {1, 1},       {1, 2},     {2, 1},     {1, 3},       {3, 1},
    {100, 7},        {70, 6},    {7, 2},       {64, 4},      {15, 17},   {17, 15},   {31, 65},     {65, 31},
    {99, 5},         {63, 257},  {257, 63},    {1, 4097},    {4097, 1},  {127, 513}, {513, 127},   {257, 300},
    {3, 16384},      {16384, 3}, {4095, 16},   {8, 8193},    {2051, 40}, {5, 7, 9},  {70, 33, 64}, {2049, 5, 8},
    {3, 4099, 4100}, {32771, 2}, {2049, 3, 4}, {2049, 2, 3},
}};
constexpr std::array<extents, 3> quick_shapes{{{1024, 1024}, {1048576, 3}, {3, 1048576}}};
constexpr std::array<extents, 8> normal_shapes{
    {{256, 256}, {1024, 1024}, {4096, 4096}, {1048576, 3}, {3, 1048576}, {1048576, 64}, {64, 1048576}, {16384, 16384}}};

std::vector<operand> inputs(const problem& p) {
  const matrix_layout of = layout_of(p);
  return {{.name = "a", .type = p.type, .count = registry::elements_of(of), .row = registry::undivided(of)}};
}
std::vector<operand> outputs(const problem& p) { return {{"values", p.type, lines_of(p).count}}; }

double operations(const problem& p) { return static_cast<double>(p.shape[0]) * static_cast<double>(p.shape[1]); }
double compulsory_bytes(const problem& p) {
  return (operations(p) + static_cast<double>(lines_of(p).count)) * static_cast<double>(size_of(p.type));
}

std::string invalid(const problem& p) {
  const registry::lines of = lines_of(p);
  if (of.length == 0 && of.count != 0 && registry::fold::needs_init(p) && !has_init(p))
    return "the " + std::string(name_of(operation_of(p))) + " of empty " +
           std::string(registry::axis_words[p.setting[2]]) + " has no value; give an initial value";
  return registry::invalid_matrix("A", layout_of(p), p.type);
}

problem describe(const detail::request& r) {
  const detail::argument &a = r.in[0], &values = r.out[0];
  const extents shape =
      registry::is_packed(a.of) ? extents{a.of.rows, a.of.columns} : extents{a.of.rows, a.of.columns, a.of.stride};
  const problem p = call::described(reduce_axis_algorithm(), r, shape);
  if (values.size != tilewise::lines_of(a.of, *a.which))
    throw error(errc::invalid_argument, "A is " + registry::shape_text(a.of.rows, a.of.columns) +
                                            " and there is room for " + std::to_string(values.size) +
                                            " values; there is one for each of its " +
                                            (*a.which == axis::rows ? "rows" : "columns"));
  return p;
}

}  // namespace

const registry::algorithm& reduce_axis_algorithm() {
  static const registry::algorithm& descriptor = base::lasting([] {
    return registry::algorithm{
        .name = "reduce_axis",
        .summary = "sum, product, minimum or maximum of each row or column of a matrix",
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
    };
  });
  return descriptor;
}

}  // namespace tilewise::impl::reduce_axis
