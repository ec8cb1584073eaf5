// SPDX-License-Identifier: Apache-2.0
// The CUDA variants of matmul, the preferred one first; tf32 is skipped unless the caller asks for `fast`.
#include "matmul/cuda/variants.hpp"

namespace tilewise::impl::matmul {

std::vector<registry::variant> matmul_cuda_variants() {
  return {cuda_tf32_variant(), cuda_tensor_f64_variant(), cuda_register_tiles_variant(), cuda_blocked16_variant(),
          cuda_simple_variant()};
}

}  // namespace tilewise::impl::matmul
