// SPDX-License-Identifier: Apache-2.0
// What kernels.cpp offers for each x86-64 level.
#pragma once

#include "backend/cpu/levels.hpp"
#include "diffuse/mask.hpp"

namespace tilewise::impl::diffuse {

/// Computes one step of `count` neighbouring elements of a row. rows[k] is the row that lies k - radius rows further
/// down. Each row may be read from `radius` elements before its pointer to `radius` elements after the last element.
template <class T>
using row_step = void(const T* const* rows, T* to, std::uint64_t count, const weights<T>& w);

template <class T>
struct cpu_kernels {
  row_step<T>* step;
  row_step<T>* last_step;  // with canonical NaNs
  bool (*has_huge)(const T* row, std::uint64_t count);
};

TILEWISE_AT_EACH_LEVEL(template <class T> const cpu_kernels<T>& kernels(mask m);)

template <class T>
const cpu_kernels<T>& kernels_for(backend::cpu::instruction_set level, mask m) {
  return TILEWISE_AT_LEVEL(level, kernels<T>)(m);
}

}  // namespace tilewise::impl::diffuse
