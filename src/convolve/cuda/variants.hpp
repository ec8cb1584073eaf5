// SPDX-License-Identifier: Apache-2.0
// The CUDA variants of convolve: one file each, listed by variants.cpp.
#pragma once

#include "registry/variant.hpp"

namespace tilewise::impl::convolve {

registry::variant cuda_boxes_variant();   // boxes.cu
registry::variant cuda_blocks_variant();  // blocks.cu
registry::variant cuda_packs_variant();   // packs.cu
registry::variant cuda_tiles_variant();   // tiles.cu
registry::variant cuda_simple_variant();  // simple.cu

/// Of the variant blocks, which takes whatever boxes does and images that begin anywhere.
void run_blocks(const registry::problem& p, const registry::bindings& where, const registry::tuning& t,
                backend::queue& on);

}  // namespace tilewise::impl::convolve
