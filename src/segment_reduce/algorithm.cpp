// SPDX-License-Identifier: Apache-2.0
// The descriptor of segment_reduce.
#include "base/lasting.hpp"
#include "base/split_mix.hpp"
#include "call/call.hpp"
#include "segment_reduce/problem.hpp"

#include <algorithm>

namespace tilewise::impl::segment_reduce {

namespace {

using registry::extents;
using registry::operand;
using registry::problem;

constexpr std::array<std::string_view, 1> numbers{"init"};

// Nothing; empty segments alone; one segment; more segments than elements, as many, and a few long ones; around one
// tile of elements, of segments, and of both.
constexpr std::array<extents, 27> edge_shapes{{
    {0, 0},         {0, 1},          {0, 5},
    {1, 1},         {1, 3},          {2, 1},
    {2, 2},         {3, 2},          {17, 1},
    {17, 17},       {100, 7},        {255, 300},
    {1024, 1},      {1025, 3},       {4095, 511},
    {4097, 2},      {4099, 4096},    {8191, 1},
    {8193, 8193},   {10, 5000},      {65537, 5},
    {65536, 1},     {131071, 90},    {131073, 1},
    {262147, 3001}, {262147, 5'003}, {1048583, 40'009},
}};
constexpr std::array<extents, 2> quick_shapes{{{1048576, 131072}, {16777216, 4096}}};
constexpr std::array<extents, 6> normal_shapes{{{1048576, 131072},
                                                {16777216, 2097152},
                                                {16777216, 4096},
                                                {67108864, 8388608},
                                                {67108864, 655360},
                                                {67108864, 64}}};

std::vector<operand> inputs(const problem& p) {
  return {{"x", p.type, p.n()}, {"offsets", dtype::i64, segments_of(p) + 1}};
}
std::vector<operand> outputs(const problem& p) { return {{"values", p.type, segments_of(p)}}; }
double operations(const problem& p) { return static_cast<double>(p.n()); }

std::string invalid(const problem& p) {
  if (segments_of(p) == 0 && p.n() != 0)
    return "there are " + std::to_string(p.n()) + " elements and no segments; pass the offsets 0, ..., " +
           std::to_string(p.n());
  if (segments_of(p) > p.n() && !may_be_empty(p))
    return "of " + std::to_string(segments_of(p)) + " segments of " + std::to_string(p.n()) +
           " elements some are empty, and the " + std::string(name_of(operation_of(p))) +
           " of no elements has no value; give an initial value";
  return "";
}

/// Makes segments of all lengths of generated numbers: half of the cuts lie anywhere, a quarter by a power law, so that
/// segments are short at the beginning and long at the end, and a quarter where another one is.
void fit_inputs(const problem& p, std::span<std::vector<std::byte>> inputs) {
  const std::uint64_t n = p.n(), m = segments_of(p);
  auto* const offsets = reinterpret_cast<std::int64_t*>(inputs[1].data());
  for (std::uint64_t s = 0; s <= m; ++s) {
    const std::uint64_t at = base::mix(static_cast<std::uint64_t>(offsets[s]) + base::golden_gamma * s);
    const double share = static_cast<double>(at >> 11) * 0x1p-53, cubed = share * share * share;
    const double cut = static_cast<double>(n) * (at % 4 < 2 ? share : cubed);
    offsets[s] = at % 4 == 3 && s != 0 ? offsets[s - 1] : static_cast<std::int64_t>(cut);
  }
  std::sort(offsets, offsets + m + 1);
  offsets[0] = 0;
  offsets[m] = static_cast<std::int64_t>(n);
  if (may_be_empty(p)) return;
  for (std::uint64_t s = 1; s < m; ++s) offsets[s] = std::max(offsets[s], offsets[s - 1] + 1);
  for (std::uint64_t s = m; s-- > 1;) offsets[s] = std::min(offsets[s], offsets[s + 1] - 1);
}

problem describe(const detail::request& r) {
  const detail::argument &x = r.in[0], &offsets = r.in[1], &values = r.out[0];
  if (offsets.type != dtype::i64)
    throw error(errc::invalid_argument, "the offsets are " + std::string(name_of(offsets.type)) + "; pass i64");
  if (offsets.size == 0)
    throw error(errc::invalid_argument, "there are no offsets; for no segments pass one, which is 0");
  const problem p = call::described(segment_reduce_algorithm(), r, {x.size, offsets.size - 1});
  if (values.size != segments_of(p))
    throw error(errc::invalid_argument, "there are " + std::to_string(segments_of(p)) + " segments and room for " +
                                            std::to_string(values.size) +
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
