// The CUDA variants of scan: one file each, listed by scan_cuda.cu.
#pragma once

#include "registry/variant.hpp"

namespace tilewise::impl::scan {

registry::variant lookback_variant();  // scan_cuda_lookback.cu
registry::variant blelloch_variant();  // scan_cuda_blelloch.cu

}  // namespace tilewise::impl::scan
