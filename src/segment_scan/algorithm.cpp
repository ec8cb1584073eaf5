// SPDX-License-Identifier: Apache-2.0
// The descriptor of segment_scan.
#include "base/lasting.hpp"
#include "call/call.hpp"
#include "segment_scan/problem.hpp"

namespace tilewise::impl::segment_scan {

namespace {

using registry::operand;
using registry::problem;

constexpr std::array<registry::setting, 3> settings{
    {{"op", registry::fold::op_words}, {"kind", scan::kind_words}, {"init", registry::fold::init_words}}};
constexpr std::array<std::string_view, 1> numbers{"init"};

std::vector<operand> inputs(const problem& p) {
  return {{"x", p.type, p.n()}, {"offsets", dtype::i64, segments_of(p) + 1}};
}
std::vector<operand> outputs(const problem& p) { return {{"y", p.type, p.n()}}; }
double operations(const problem& p) { return static_cast<double>(p.n()); }

std::string invalid(const problem& p) {
  const std::string lacking = scan::lacks_init(p);
  return lacking.empty() ? segment_reduce::impossible(segmentation_of(p)) : lacking;
}
void fit_inputs(const problem& p, std::span<std::vector<std::byte>> inputs) {
  segment_reduce::fit_offsets(segmentation_of(p), inputs[1]);
}

problem describe(const detail::request& r) {
  const segment_reduce::segmentation of = segment_reduce::described(r);
  if (const std::uint64_t room = r.out[0].size; room != of.elements)
    throw error(errc::invalid_argument, "the output of a scan must have the size of its input: " +
                                            std::to_string(of.elements) + " elements, not " + std::to_string(room));
  return call::described(segment_scan_algorithm(), r, {of.elements, of.segments});
}

}  // namespace

const registry::algorithm& segment_scan_algorithm() {
  static const registry::algorithm& descriptor = base::lasting([] {
    return registry::algorithm{
        .name = "segment_scan",
        .summary = "running sum, product, minimum or maximum within each segment of an array",
        .types = all_dtypes,
        .settings = settings,
        .numbers = numbers,
        .edge_shapes = segment_reduce::edge_shapes,
        .quick_shapes = segment_reduce::quick_shapes,
        .normal_shapes = segment_reduce::normal_shapes,
        .inputs = inputs,
        .outputs = outputs,
        .operations = operations,
        .invalid = invalid,
        .describe = describe,
        .fit_inputs = fit_inputs,
        .in_place = true,
    };
  });
  return descriptor;
}

}  // namespace tilewise::impl::segment_scan
