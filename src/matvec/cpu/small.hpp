// SPDX-License-Identifier: Apache-2.0
// Short dot products on the calling thread, without a device, problem or workspace.
#pragma once

#include "matvec/cpu/kernels.hpp"
#include "order/operators.hpp"

namespace tilewise::impl::matvec {

inline constexpr std::uint64_t few_products = 4096;

/// 0 < n <= few_products. The same bits as every variant.
template <class T>
T dot_few(const T* x, const T* y, std::uint64_t n) {
  using bits = order::wrapping_t<T>;
  static const auto dot = kernels_for<bits>(backend::cpu::best_instruction_set()).dot;
  return static_cast<T>(dot(reinterpret_cast<const bits*>(x), reinterpret_cast<const bits*>(y), n));
}

}  // namespace tilewise::impl::matvec
