// The descriptor of scan.
#include "base/lasting.hpp"
#include "scan/scan_problem.hpp"

namespace tilewise::impl::scan {

namespace {

using registry::extents;
using registry::operand;
using registry::problem;

constexpr std::array<registry::setting, 3> settings{{{"op", op_words}, {"kind", kind_words}, {"init", init_words}}};
constexpr std::array<std::string_view, 1> numbers{"init"};

// Around one element, one vector, one row, one tile and one group of tiles, and primes between.
constexpr std::array<extents, 34> edge_shapes{{
    {0},    {1},    {2},    {3},    {4},    {5},     {7},     {8},      {9},      {15},      {16},   {17},
    {31},   {33},   {63},   {64},   {65},   {127},   {255},   {256},    {257},    {511},     {1021}, {1024},
    {1025}, {4095}, {4097}, {8191}, {8193}, {65535}, {65537}, {131071}, {262147}, {1048583},
}};
constexpr std::array<extents, 3> quick_shapes{{{1024}, {1048576}, {16777217}}};
constexpr std::array<extents, 10> normal_shapes{
    {{64}, {1024}, {4096}, {65536}, {262144}, {1048576}, {16777217}, {67108865}, {134217728}, {268435456}}};

std::vector<operand> inputs(const problem& p) { return {{"x", p.type, p.n()}}; }
std::vector<operand> outputs(const problem& p) { return {{"y", p.type, p.n()}}; }
double operations(const problem& p) { return static_cast<double>(p.n()); }

std::string invalid(const problem& p) {
  const bool needs_init = operation_of(p) == op::min || operation_of(p) == op::max;
  if (is_exclusive(p) && needs_init && !has_init(p))
    return "an exclusive " + std::string(name_of(operation_of(p))) +
           " scan has no first value of its own; give an initial value";
  return "";
}

}  // namespace

const registry::algorithm& scan_algorithm() {
  static const registry::algorithm& descriptor = base::lasting([] {
    return registry::algorithm{
        .name = "scan",
        .summary = "running sum, product, minimum or maximum, inclusive or exclusive",
        .types = all_dtypes,
        .settings = settings,
        .numbers = numbers,
        .edge_shapes = edge_shapes,
        .quick_shapes = quick_shapes,
        .normal_shapes = normal_shapes,
        .inputs = inputs,
        .outputs = outputs,
        .operations = operations,
        .invalid = invalid,
        .in_place = true,
    };
  });
  return descriptor;
}

}  // namespace tilewise::impl::scan
