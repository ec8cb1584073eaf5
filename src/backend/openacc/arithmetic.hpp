// SPDX-License-Identifier: Apache-2.0
// A product that no compiler fuses with the sum after it.
#pragma once

#include <openacc.h>

namespace tilewise::backend::openacc {

/// a * b, rounded. GCC keeps the product apart but writes PTX's `mul`, which the GPU's driver may still fuse with an
/// `add`, and does. A fused multiply-add of -0 rounds the same product to the same bits and stays what it is.
template <class T>
[[gnu::always_inline]] inline T product(T a, T b) {
  if (__builtin_acc_on_device(acc_device_host)) return a * b;
  if constexpr (sizeof(T) == sizeof(float))
    return __builtin_fmaf(a, b, -0.0f);
  else
    return __builtin_fma(a, b, -0.0);
}

}  // namespace tilewise::backend::openacc
