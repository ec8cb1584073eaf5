// SPDX-License-Identifier: Apache-2.0
// What kernels.cpp offers for each x86-64 level.
#pragma once

#include "backend/cpu/levels.hpp"
#include "sort/code.hpp"

namespace tilewise::impl::sort_axis {

/// How many lines one network sorts at once.
template <class Bits>
inline constexpr std::uint64_t lanes = 128 / sizeof(Bits);

/// Compares two elements of a line and puts them in order.
struct comparator {
  std::uint16_t low, high;
};
struct network {
  const comparator* all;
  std::uint64_t count;
};

/// Lines of a matrix: element e of line l is at e * element + l * line.
template <class Bits>
struct some_lines {
  Bits* at;
  std::uint64_t line, element;
};

template <class Bits>
struct cpu_kernels {
  /// Sorts `count` lines of `length` elements; `count` is at most `lanes`. `by` is a network for `length` elements.
  /// The scratch has room for `lanes` lines.
  void (*sort_side_by_side)(some_lines<const Bits> from, some_lines<Bits> to, std::uint64_t count, std::uint64_t length,
                            network by, sort::sort_code<Bits> code, Bits* scratch);
};

TILEWISE_AT_EACH_LEVEL(template <class Bits> const cpu_kernels<Bits>& kernels();)

template <class Bits>
const cpu_kernels<Bits>& kernels_for(backend::cpu::instruction_set level) {
  return TILEWISE_AT_LEVEL(level, kernels<Bits>)();
}

}  // namespace tilewise::impl::sort_axis
