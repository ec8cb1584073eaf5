// SPDX-License-Identifier: Apache-2.0
// The CUDA variants of sort, the preferred one first.
#include "sort/cuda/variants.hpp"

namespace tilewise::impl::sort {

std::vector<registry::variant> sort_cuda_variants() {
  return {cuda_radix_variant(), cuda_merge_path_variant(), cuda_merge_rank_variant()};
}

}  // namespace tilewise::impl::sort
