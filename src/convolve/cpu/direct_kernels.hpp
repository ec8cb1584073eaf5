// SPDX-License-Identifier: Apache-2.0
// What direct_kernels.cpp offers for each x86-64 level.
#pragma once

#include "backend/cpu/levels.hpp"

namespace tilewise::impl::convolve {

/// Computes a block of results whose masks do not reach past the image. The pixels of result (i, j) begin at
/// x[i * x_stride + j].
template <class T>
struct direct_step {
  const T* x;
  std::uint64_t x_stride;
  const T* mask;
  std::uint64_t mask_rows, mask_columns;
  T* y;
  std::uint64_t y_stride;
  std::uint64_t rows, columns;  // the size of the block
};

template <class T>
struct direct_kernels {
  void (*convolve)(const direct_step<T>& step);
};

TILEWISE_AT_EACH_LEVEL(template <class T> const direct_kernels<T>& direct();)

template <class T>
const direct_kernels<T>& direct_kernels_for(backend::cpu::instruction_set level) {
  return TILEWISE_AT_LEVEL(level, direct<T>)();
}

}  // namespace tilewise::impl::convolve
