// SPDX-License-Identifier: Apache-2.0
// The descriptor of segment_sort.
#include "base/ceil_div.hpp"
#include "base/lasting.hpp"
#include "call/call.hpp"
#include "segment_sort/problem.hpp"

#include <bit>

namespace tilewise::impl::segment_sort {

namespace {

using registry::operand;
using registry::problem;

constexpr std::array<registry::setting, 2> settings{{{"order", sort::order_words}, {"payload", sort::payload_words}}};

std::vector<operand> inputs(const problem& p) {
  std::vector<operand> all = sort::sort_algorithm().inputs(p);
  all.push_back({"offsets", dtype::i64, segments_of(p) + 1});
  return all;
}
std::vector<operand> outputs(const problem& p) { return sort::sort_algorithm().outputs(p); }

/// The number of comparisons of merge sorts, if all segments have one length.
double operations(const problem& p) {
  const std::uint64_t length = p.n() == 0 ? 0 : ceil_div(p.n(), segments_of(p)) - 1;
  return static_cast<double>(p.n()) * static_cast<double>(std::bit_width(length));
}

std::string invalid(const problem& p) {
  const std::string impossible = segment_reduce::impossible(segmentation_of(p));
  return impossible.empty() ? sort::sort_algorithm().invalid(p) : impossible;
}
void fit_inputs(const problem& p, std::span<std::vector<std::byte>> inputs) {
  segment_reduce::fit_offsets(segmentation_of(p), inputs.back());
}

problem describe(const detail::request& r) {
  const segment_reduce::segmentation of = segment_reduce::described(r);
  sort::require_one_size(r.in.first(r.in.size() - 1), r.out);
  return call::described(segment_sort_algorithm(), r, {of.elements, of.segments});
}

}  // namespace

const registry::algorithm& segment_sort_algorithm() {
  static const registry::algorithm& descriptor = base::lasting([] {
    return registry::algorithm{
        .name = "segment_sort",
        .summary = "stable sort of each segment of an array, alone, with values or with indices",
        .types = all_dtypes,
        .settings = settings,
        .numbers = {},
        .edge_shapes = segment_reduce::edge_shapes,
        .quick_shapes = segment_reduce::quick_shapes,
        .normal_shapes = segment_reduce::normal_shapes,
        .inputs = inputs,
        .outputs = outputs,
        .operations = operations,
        .invalid = invalid,
        .describe = describe,
        .fit_inputs = fit_inputs,
        .speed_in = registry::speed_unit::elements,
        .in_place = true,
    };
  });
  return descriptor;
}

}  // namespace tilewise::impl::segment_sort
