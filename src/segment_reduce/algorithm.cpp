// SPDX-License-Identifier: Apache-2.0
// The descriptor of segment_reduce.
#include "base/lasting.hpp"
#include "call/call.hpp"
#include "segment_reduce/problem.hpp"

namespace tilewise::impl::segment_reduce {

namespace {

using registry::operand;
using registry::problem;

constexpr std::array<std::string_view, 1> numbers{"init"};

std::vector<operand> inputs(const problem& p) {
  return {{"x", p.type, p.n()}, {"offsets", dtype::i64, segments_of(p) + 1}};
}
std::vector<operand> outputs(const problem& p) { return {{"values", p.type, segments_of(p)}}; }
double operations(const problem& p) { return static_cast<double>(p.n()); }

std::string invalid(const problem& p) { return impossible(segmentation_of(p)); }
void fit_inputs(const problem& p, std::span<std::vector<std::byte>> inputs) {
  fit_offsets(segmentation_of(p), inputs[1]);
}

problem describe(const detail::request& r) {
  const segmentation of = described(r);
  const problem p = call::described(segment_reduce_algorithm(), r, {of.elements, of.segments});
  if (const std::uint64_t room = r.out[0].size; room != of.segments)
    throw error(errc::invalid_argument, "there are " + std::to_string(of.segments) + " segments and room for " +
                                            std::to_string(room) +
                                            " values; there is one for each segment, and one offset more");
  return p;
}

}  // namespace

const registry::algorithm& segment_reduce_algorithm() {
  static const registry::algorithm& descriptor = base::lasting([] {
    return registry::algorithm{
        .name = "segment_reduce",
        .summary = "sum, product, minimum or maximum of each segment of an array",
        .types = all_dtypes,
        .settings = registry::fold::reduction_settings,
        .numbers = numbers,
        .edge_shapes = edge_shapes,
        .quick_shapes = quick_shapes,
        .normal_shapes = normal_shapes,
        .inputs = inputs,
        .outputs = outputs,
        .operations = operations,
        .invalid = invalid,
        .describe = describe,
        .fit_inputs = fit_inputs,
    };
  });
  return descriptor;
}

}  // namespace tilewise::impl::segment_reduce
