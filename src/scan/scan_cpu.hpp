// Short arrays on the calling thread, without a device, problem or workspace.
#pragma once

#include "backend/cpu/cpu_kernel_table.hpp"
#include "reduce/reduce_cpu_kernels.hpp"
#include "scan/scan_cpu_kernels.hpp"

namespace tilewise::impl::scan {

using reduce::small_limit;

template <class T>
struct small_kernels {
  using kernel_type = small_kernel<T>;
  static kernel_type* kernel(backend::cpu::instruction_set level, op operation) {
    return kernels_for<T>(level, operation).small;
  }
};

/// 0 < n <= small_limit; `init` is the left operand of every output, null for none. The same bits as every variant.
template <class T>
void scan_small(const T* in, T* out, std::uint64_t n, const T* init, bool inclusive, op operation) {
  backend::cpu::kernel_table<small_kernels<T>>::call(operation, in, out, n, init, inclusive);
}

}  // namespace tilewise::impl::scan
