// SPDX-License-Identifier: Apache-2.0
// The CUDA variants of scan, the preferred one first.
#include "scan/cuda/variants.hpp"

namespace tilewise::impl::scan {

std::vector<registry::variant> scan_cuda_variants() { return {cuda_lookback_variant(), cuda_blelloch_variant()}; }

}  // namespace tilewise::impl::scan
