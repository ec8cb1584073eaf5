// SPDX-License-Identifier: Apache-2.0
// The descriptor of reduce.
#include "base/lasting.hpp"
#include "reduce/pieces.hpp"
#include "reduce/problem.hpp"

namespace tilewise::impl::reduce {

namespace {

using registry::operand;
using registry::problem;
using registry::fold::needs_init;

constexpr std::array<std::string_view, 1> numbers{"init"};

std::vector<operand> inputs(const problem& p) { return {{"x", p.type, p.n()}}; }
std::vector<operand> outputs(const problem& p) { return {{"value", p.type, 1}}; }
double compulsory_bytes(const problem& p) { return static_cast<double>(p.n() * size_of(p.type)); }
double operations(const problem& p) { return static_cast<double>(p.n()); }

std::string invalid(const problem& p) {
  if (p.n() == 0 && needs_init(p) && !has_init(p))
    return "the " + std::string(name_of(operation_of(p))) + " of an empty array has no value; give an initial value";
  return "";
}

}  // namespace

const registry::algorithm& reduce_algorithm() {
  static const registry::algorithm& descriptor = base::lasting([] {
    return registry::algorithm{
        .name = "reduce",
        .summary = "sum, product, minimum or maximum of an array",
        .types = all_dtypes,
        .settings = registry::fold::reduction_settings,
        .numbers = numbers,
        .edge_shapes = registry::fold::edge_shapes,
        .quick_shapes = registry::fold::quick_shapes,
        .normal_shapes = registry::fold::normal_shapes,
        .inputs = inputs,
        .outputs = outputs,
        .compulsory_bytes = compulsory_bytes,
        .operations = operations,
        .invalid = invalid,
        .describe = describe,
        .few = few,
        .divides = &division,
    };
  });
  return descriptor;
}

}  // namespace tilewise::impl::reduce
