// SPDX-License-Identifier: Apache-2.0
// The variants of sort on CUDA, one maker for each <method>.cu.
#pragma once

#include "registry/variant.hpp"

namespace tilewise::impl::sort {

registry::variant cuda_radix_variant();
registry::variant cuda_merge_path_variant();
registry::variant cuda_merge_rank_variant();

}  // namespace tilewise::impl::sort
