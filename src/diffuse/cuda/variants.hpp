// SPDX-License-Identifier: Apache-2.0
// The CUDA variants of diffuse: one file each, listed by variants.cpp.
#pragma once

#include "registry/variant.hpp"

namespace tilewise::impl::diffuse {

registry::variant cuda_registers_variant();  // registers.cu
registry::variant cuda_resident_variant();   // resident.cu
registry::variant cuda_temporal_variant();   // temporal.cu
registry::variant cuda_tiles_variant();      // documents/cuda_tiles.cu

/// Whether the device can hold the field as cuda_resident_variant does.
bool resident_takes(const registry::problem& p, const backend::device& on);

}  // namespace tilewise::impl::diffuse
