// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace tilewise::backend::cuda {

/// Between any memory that the current device reads and writes.
void copy_by_kernel(void* to, const void* from, std::uint64_t bytes, cudaStream_t stream);

}  // namespace tilewise::backend::cuda
