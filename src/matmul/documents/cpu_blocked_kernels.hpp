// SPDX-License-Identifier: Apache-2.0
// What cpu_blocked_kernels.cpp offers for each x86-64 level.
#pragma once

#include "backend/cpu/levels.hpp"

#include <cstdint>

namespace tilewise::impl::matmul {

/// Adds the products with one block of B to the chains of a block of C.
template <class T>
struct blocked_step {
  const T* a;
  std::uint64_t a_stride;
  const T* b;
  std::uint64_t b_stride;
  T* c;
  std::uint64_t c_stride;
  std::uint64_t rows, columns, depth;
};

template <class T>
struct blocked_kernels {
  void (*multiply)(const blocked_step<T>& step);
  void (*finish)(T* c, std::uint64_t count);  // NaNs become the canonical one
};

TILEWISE_AT_EACH_LEVEL(template <class T> const blocked_kernels<T>& blocked();)

template <class T>
const blocked_kernels<T>& blocked_kernels_for(backend::cpu::instruction_set level) {
  return TILEWISE_AT_LEVEL(level, blocked<T>)();
}

}  // namespace tilewise::impl::matmul
