// SPDX-License-Identifier: Apache-2.0
// The CUDA variants of scan: one file each, listed by variants.cpp.
#pragma once

#include "registry/variant.hpp"

namespace tilewise::impl::scan {

registry::variant cuda_lookback_variant();  // lookback.cu
registry::variant cuda_blelloch_variant();  // blelloch.cu

}  // namespace tilewise::impl::scan
