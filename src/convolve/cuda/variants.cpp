// SPDX-License-Identifier: Apache-2.0
// The CUDA variants of convolve, the preferred one first; the simple one takes every mask.
#include "convolve/cuda/variants.hpp"

namespace tilewise::impl::convolve {

std::vector<registry::variant> convolve_cuda_variants() {
  return {cuda_boxes_variant(), cuda_blocks_variant(), cuda_packs_variant(), cuda_tiles_variant(),
          cuda_simple_variant()};
}

}  // namespace tilewise::impl::convolve
