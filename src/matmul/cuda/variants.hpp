// SPDX-License-Identifier: Apache-2.0
// The CUDA variants of matmul: one file each, listed by variants.cpp.
#pragma once

#include "registry/variant.hpp"

namespace tilewise::impl::matmul {

registry::variant cuda_tensor_f64_variant();      // tensor_f64.cu
registry::variant cuda_register_tiles_variant();  // register_tiles.cu
registry::variant cuda_blocked16_variant();       // documents/cuda_blocked16.cu
registry::variant cuda_simple_variant();          // documents/cuda_simple.cu
registry::variant cuda_tf32_variant();            // tf32.cu

}  // namespace tilewise::impl::matmul
