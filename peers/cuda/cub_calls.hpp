// SPDX-License-Identifier: Apache-2.0
// CUB's algorithms through plain pointers. CUB compiles slowly, so the files that include it include little else.
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
  std::uint64_t segments = 0;
  const void* values_in = nullptr;  // for pairs; the offsets of segments
  void* values_out = nullptr;
  std::int64_t* offsets_out = nullptr;
  void* workspace = nullptr;  // if null, a call only sets `bytes` to the size that it needs
  std::size_t bytes = 0;
};

/// For f32, f64, and integers of 32 bits.
cudaError_t cub_reduce(cub_call& call);
cudaError_t cub_scan(cub_call& call);
cudaError_t cub_segment_reduce(cub_call& call);
/// For keys of 32 and 64 bits: how many runs, their keys and where they begin.
cudaError_t cub_runs(cub_call& call);

/// For f32, f64, u32 and u64.
cudaError_t cub_radix_sort(cub_call& call);
cudaError_t cub_merge_sort(cub_call& call);
cudaError_t cub_segment_sort(cub_call& call);
/// For pairs of u32 and u32.
cudaError_t cub_radix_pairs(cub_call& call);

}  // namespace tilewise::peers
