// SPDX-License-Identifier: Apache-2.0
// The CUDA variants of polymul, the preferred one first.
#include "polymul/cuda/variants.hpp"

namespace tilewise::impl::polymul {

std::vector<registry::variant> polymul_cuda_variants() {
  return {cuda_ntt_variant(), cuda_tiles_variant(), cuda_local_variant(), cuda_global_variant(),
          cuda_karatsuba_variant()};
}

}  // namespace tilewise::impl::polymul
