// SPDX-License-Identifier: Apache-2.0
// Scans short arrays on the calling thread, without a device, problem or workspace.
#pragma once

#include "backend/cpu/kernel_table.hpp"
#include "order/operators.hpp"
#include "reduce/cpu/kernels.hpp"
#include "scan/cpu/kernels.hpp"

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

/// The same for a part of a longer array. `before` and `after` are the prefixes before and after the part. Pass the
/// identity as `init` for no initial value.
template <class T, class Op>
void scan_small_part(const T* in, T* out, std::uint64_t n, T before, T after, T init, bool inclusive) {
  const backend::cpu::instruction_set level = backend::cpu::best_instruction_set();
  T scratch[reduce::small_scratch];
  reduce::kernels_for<T>(level, Op::id).upsweep(in, n, scratch);
  kernels_for<T>(level, Op::id).downsweep(in, out, n, scratch, {.carry = before, .init = init, .inclusive = inclusive});
  if (inclusive) out[n - 1] = order::canonical(Op::template apply<T>(init, after));
}

}  // namespace tilewise::impl::scan
