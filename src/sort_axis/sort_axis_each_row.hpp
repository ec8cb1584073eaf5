// SPDX-License-Identifier: Apache-2.0
// Rows that a GPU sorts one after another, as `sort` would.
#pragma once

#include "registry/choose.hpp"
#include "registry/variant.hpp"
#include "sort_axis/sort_axis_problem.hpp"

namespace tilewise::impl::sort_axis {

/// Rows that are alone, or so long that each comes nearer to the memory's rate by itself, which pays for its launches.
inline bool are_sorts_of_their_own(const registry::problem& p) {
  constexpr std::uint64_t long_row = std::uint64_t{1} << 22, short_row = 4096;
  const registry::lines from = lines_of_input(p);
  return axis_of(p) == axis::rows && (from.length >= long_row || (from.count == 1 && from.length > short_row));
}

inline void sort_each_row(const registry::problem& p, const registry::bindings& where, backend::queue& q) {
  const registry::problem of_row = sort_of_line(p);
  const registry::choice how = registry::choose(of_row, q.device(), {});
  const std::uint64_t size = size_of(p.type), bytes = lines_of_input(p).length * size;
  for (std::uint64_t row = 0; row < lines_of_input(p).count; ++row)
    how.variant->run(of_row,
                     {.in = {where.in[0].at(row * lines_of_input(p).line * size, bytes)},
                      .out = {where.out[0].at(row * lines_of_output(p).line * size, bytes)}},
                     how.tuning, q);
}

}  // namespace tilewise::impl::sort_axis
