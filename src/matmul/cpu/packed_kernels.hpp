// SPDX-License-Identifier: Apache-2.0
// What packed_kernels.cpp offers for each x86-64 level.
#pragma once

#include "backend/cpu/levels.hpp"

#include <cstdint>

namespace tilewise::impl::matmul {

/// Adds the next `depth` products to the chain of each of `rows` x `columns` elements of C. A and B are packed, or they
/// lie in the caller's memory.
template <class T>
struct packed_step {
  const T* a;
  std::uint64_t a_row, a_column, a_panel;  // elements from one row, column, panel of A to the next
  const T* b;
  std::uint64_t b_row, b_panel;
  T* c;
  std::uint64_t c_row;
  std::uint64_t rows, columns, depth;
  bool first, last;  // whether the chains begin at 0 in this step, and whether they end in it
};

/// T: float, double, std::uint32_t, std::uint64_t.
template <class T>
struct packed_kernels {
  unsigned panel_rows, panel_columns;  // the tile of C that stays in registers
  bool takes_a_in_place;               // whether whole tiles of C are as fast with an A that is not packed

  /// Packs `rows` <= panel_rows rows of A into one panel, column by column; columns lie panel_rows elements apart.
  void (*pack_a)(const T* a, std::uint64_t stride, std::uint64_t rows, std::uint64_t depth, T* panel);
  /// Packs `columns` <= panel_columns columns of B into one panel, row by row; rows lie panel_columns elements apart.
  void (*pack_b)(const T* b, std::uint64_t stride, std::uint64_t columns, std::uint64_t depth, T* panel);
  void (*multiply)(const packed_step<T>& step);
};

TILEWISE_AT_EACH_LEVEL(template <class T> const packed_kernels<T>& packed();)

template <class T>
const packed_kernels<T>& packed_kernels_for(backend::cpu::instruction_set level) {
  return TILEWISE_AT_LEVEL(level, packed<T>)();
}

}  // namespace tilewise::impl::matmul
