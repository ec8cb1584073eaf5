// SPDX-License-Identifier: Apache-2.0
// The CUDA variants of diffuse, the preferred one first; resident is skipped where a field does not fit on the
// chip.
#include "diffuse/cuda/variants.hpp"

namespace tilewise::impl::diffuse {

std::vector<registry::variant> diffuse_cuda_variants() {
  return {cuda_registers_variant(), cuda_resident_variant(), cuda_temporal_variant(), cuda_tiles_variant()};
}

}  // namespace tilewise::impl::diffuse
