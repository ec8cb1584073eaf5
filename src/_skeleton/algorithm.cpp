// SPDX-License-Identifier: Apache-2.0
// The descriptor of skeleton.
#include "_skeleton/problem.hpp"
#include "base/lasting.hpp"
#include "call/call.hpp"

namespace tilewise::impl::skeleton {

namespace {

using registry::extents;
using registry::operand;
using registry::problem;

// No elements, one element, and around one and several tiles of every tuning.
constexpr std::array<extents, 8> edge_shapes{{{0}, {1}, {2}, {1023}, {1025}, {4096}, {65537}, {262147}}};
constexpr std::array<extents, 1> quick_shapes{{{1048576}}};
constexpr std::array<extents, 2> normal_shapes{{{1048576}, {16777217}}};

std::vector<operand> inputs(const problem& p) { return {{"x", p.type, p.n()}}; }
std::vector<operand> outputs(const problem& p) { return {{"y", p.type, p.n()}}; }
double operations(const problem& p) { return static_cast<double>(p.n()); }
std::string invalid(const problem&) { return ""; }

constexpr std::array<registry::parameter, 1> arrays{{{"x", "*", "the array, of any shape"}}};
constexpr registry::signature called{
    .says = "the negation of each element",
    .sizes = "n",
    .inputs = arrays,
    .result = {"y", "*", "where it goes; required; may be X.npy"},
    .notes = "The file is the same to the last byte on every device. Unsigned integers wrap.",
    .examples = "  tilewise skeleton x.npy -o y.npy"};

problem describe(const detail::request& r) {
  if (r.in[0].size != r.out[0].size)
    throw error(errc::invalid_argument,
                "the output of skeleton must have the size of its input: " + std::to_string(r.in[0].size) +
                    " elements, not " + std::to_string(r.out[0].size));
  return call::described(skeleton_algorithm(), r, {r.in[0].size});
}

}  // namespace

const registry::algorithm& skeleton_algorithm() {
  static const registry::algorithm& descriptor = base::lasting([] {
    return registry::algorithm{
        .name = "skeleton",
        .summary = "the negation of each element",
        .types = all_dtypes,
        .settings = {},
        .numbers = {},
        .edge_shapes = edge_shapes,
        .quick_shapes = quick_shapes,
        .normal_shapes = normal_shapes,
        .inputs = inputs,
        .outputs = outputs,
        .operations = operations,
        .called = &called,
        .invalid = invalid,
        .describe = describe,
        .in_place = true,
    };
  });
  return descriptor;
}

}  // namespace tilewise::impl::skeleton
