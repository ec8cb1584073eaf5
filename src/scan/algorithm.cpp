// SPDX-License-Identifier: Apache-2.0
// The descriptor of scan.
#include "base/lasting.hpp"
#include "scan/problem.hpp"

namespace tilewise::impl::scan {

namespace {

using registry::operand;
using registry::problem;

constexpr std::array<registry::setting, 4> settings{{{"op", registry::fold::op_words},
                                                     {"kind", kind_words},
                                                     {"init", registry::fold::init_words},
                                                     {"carry", carry_words, true}}};
constexpr std::array<std::string_view, 1> numbers{"init"};

std::vector<operand> inputs(const problem& p) {
  if (!has_carry(p)) return {{"x", p.type, p.n()}};
  return {{"x", p.type, p.n()}, {"carry", p.type, 2}};
}
std::vector<operand> outputs(const problem& p) { return {{"y", p.type, p.n()}}; }
double operations(const problem& p) { return static_cast<double>(p.n()); }

}  // namespace

const registry::algorithm& scan_algorithm() {
  static const registry::algorithm& descriptor = base::lasting([] {
    return registry::algorithm{
        .name = "scan",
        .summary = "running sum, product, minimum or maximum, inclusive or exclusive",
        .types = all_dtypes,
        .settings = settings,
        .numbers = numbers,
        .edge_shapes = registry::fold::edge_shapes,
        .quick_shapes = registry::fold::quick_shapes,
        .normal_shapes = registry::fold::normal_shapes,
        .inputs = inputs,
        .outputs = outputs,
        .operations = operations,
        .invalid = lacks_init,
        .describe = describe,
        .few = few,
        .continues = continues,
        .divides = &division,
        .in_place = true,
    };
  });
  return descriptor;
}

}  // namespace tilewise::impl::scan
