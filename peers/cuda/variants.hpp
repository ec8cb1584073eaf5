// SPDX-License-Identifier: Apache-2.0
// The peers on CUDA.
#pragma once

#include "backend/backend.hpp"
#include "registry/variant.hpp"

#include <vector>

namespace tilewise::peers {

std::vector<registry::variant> cub_variants();
std::vector<registry::variant> cublas_variants();
std::vector<registry::variant> cufft_variants();
std::vector<registry::variant> diffuse_cuda_variants();
std::vector<registry::variant> npp_variants();

/// cudaMemcpy from and to pageable memory.
void upload_pageable(backend::queue& on, backend::memory to, const void* from, std::uint64_t bytes);
void download_pageable(backend::queue& on, void* to, backend::memory from, std::uint64_t bytes);

}  // namespace tilewise::peers
