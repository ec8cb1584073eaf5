// SPDX-License-Identifier: Apache-2.0
// Reduces short arrays on the calling thread, without a device, problem or workspace.
#pragma once

#include "backend/cpu/kernel_table.hpp"
#include "reduce/cpu/kernels.hpp"

namespace tilewise::impl::reduce {

template <class T>
struct small_kernels {
  using kernel_type = small_kernel<T>;
  static kernel_type* kernel(backend::cpu::instruction_set level, op operation) {
    return kernels_for<T>(level, operation).small;
  }
};

/// 0 < n <= small_limit; `init` may be null. The same bits as every variant.
template <class T>
T reduce_small(const T* in, std::uint64_t n, const T* init, op operation) {
  return backend::cpu::kernel_table<small_kernels<T>>::call(operation, in, n, init);
}

}  // namespace tilewise::impl::reduce
