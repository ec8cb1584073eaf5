// SPDX-License-Identifier: Apache-2.0
// How a sort along an axis is written as a registry::problem: shape {M, N}, or {M, N, stride of A, stride of the
// output}; the settings order and axis.
#pragma once

#include "scan_axis/problem.hpp"
#include "sort/problem.hpp"

namespace tilewise::impl::sort_axis {

const registry::algorithm& sort_axis_algorithm();

inline constexpr std::size_t axis_setting = 1;
inline axis axis_of(const registry::problem& p) { return static_cast<axis>(p.setting[axis_setting]); }

// Shapes are those of a scan along an axis.
using scan_axis::layout_of_input, scan_axis::layout_of_output, scan_axis::of_matrices;
using sort::is_descending;

/// The lines to sort, and where their results go.
inline registry::lines lines_of_input(const registry::problem& p) { return {layout_of_input(p), axis_of(p)}; }
inline registry::lines lines_of_output(const registry::problem& p) { return {layout_of_output(p), axis_of(p)}; }

/// The sort of one line.
inline registry::problem sort_of_line(const registry::problem& p) {
  registry::problem line{.what = &sort::sort_algorithm(), .type = p.type, .shape = {lines_of_input(p).length}};
  line.setting = {p.setting[0], static_cast<std::uint8_t>(sort::payload::none)};
  return line;
}

/// Whether a GPU sorts lines without gaps one after another, each like a separate call of sort: a line that is alone,
/// or lines so long that each gets close enough to the memory's bandwidth to pay for its launches.
inline bool are_sorts_of_their_own(const registry::lines& of) {
  constexpr std::uint64_t long_line = std::uint64_t{1} << 22, short_line = 4096;
  return of.length >= long_line || (of.count == 1 && of.length > short_line);
}
inline bool are_sorts_of_their_own(const registry::problem& p) {
  const registry::lines from = lines_of_input(p);
  const bool have_gaps = from.element != 1 || lines_of_output(p).element != 1;
  return !have_gaps && are_sorts_of_their_own(from);
}

}  // namespace tilewise::impl::sort_axis
