// SPDX-License-Identifier: Apache-2.0
// The variants of polymul on CUDA, one maker for each <method>.cu.
#pragma once

#include "registry/variant.hpp"

namespace tilewise::impl::polymul {

registry::variant cuda_tiles_variant();
registry::variant cuda_global_variant();
registry::variant cuda_local_variant();
registry::variant cuda_karatsuba_variant();
registry::variant cuda_ntt_variant();

}  // namespace tilewise::impl::polymul
