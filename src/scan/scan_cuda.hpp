// SPDX-License-Identifier: Apache-2.0
// The CUDA variants of scan: one file each, listed by scan_cuda.cpp.
#pragma once

#include "registry/variant.hpp"

namespace tilewise::impl::scan {

registry::variant cuda_lookback_variant();  // scan_cuda_lookback.cu
registry::variant cuda_blelloch_variant();  // scan_cuda_blelloch.cu

}  // namespace tilewise::impl::scan
