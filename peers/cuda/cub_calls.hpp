// SPDX-License-Identifier: Apache-2.0
// CUB's algorithms through plain pointers, so that the files that include CUB, which compiles slowly, include little
// else.
#pragma once

#include <tilewise/types.hpp>

#include <cuda_runtime_api.h>

namespace tilewise::peers {

struct cub_call {
  dtype type;
  const void* in;
  void* out;
  std::uint64_t n;
  cudaStream_t stream;
  const void* values_in = nullptr;  // of pairs
  void* values_out = nullptr;
  void* workspace = nullptr;  // without one, a call only sets `bytes` to the size it needs
  std::size_t bytes = 0;
};

/// For f32, f64 and types that wrap in 32 bits.
cudaError_t cub_reduce(cub_call& call);
cudaError_t cub_scan(cub_call& call);

/// For f32, f64, u32 and u64.
cudaError_t cub_radix_sort(cub_call& call);
cudaError_t cub_merge_sort(cub_call& call);
/// Of u32 and u32.
cudaError_t cub_radix_pairs(cub_call& call);

}  // namespace tilewise::peers
