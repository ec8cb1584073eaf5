// SPDX-License-Identifier: Apache-2.0
// Maps a problem's type and operator to a kernel's template arguments.
#pragma once

#include "order/operators.hpp"

namespace tilewise::backend::cuda {

/// Calls f(T{}, Op{}). Sums and products of signed integers use the kernels of unsigned ones: since they wrap, the bits
/// are the same. That leaves 20 instantiations instead of 24.
template <class F>
void with_type_and_operator(dtype type, op operation, F&& f) {
  const bool wraps = operation == op::sum || operation == op::product;
  if (wraps && type == dtype::i32) type = dtype::u32;
  if (wraps && type == dtype::i64) type = dtype::u64;
  with_type(type, [&]<class T>(T) {
    order::with_operator(operation, [&]<class Op>(Op) {
      if constexpr (!(std::is_signed_v<T> && std::is_integral_v<T>) || Op::id == op::min || Op::id == op::max)
        f(T{}, Op{});
    });
  });
}

}  // namespace tilewise::backend::cuda
