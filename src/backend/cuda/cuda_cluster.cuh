// SPDX-License-Identifier: Apache-2.0
// What:   launches of kernels whose groups all form one cluster.
// Order:  none.
// Shape:  as many groups as Hopper allows: 16, where a program need not ask for up to 8.
// Limits: compute capability 9.0.
// Twins:  none.
#pragma once

#include "backend/cuda/cuda_error.hpp"
#include "backend/cuda/cuda_queue.hpp"

namespace tilewise::backend::cuda {

inline constexpr unsigned most_cluster_groups = 16;

inline bool has_clusters(const queue& q) { return q.device().info().compute_capability >= 90; }

/// `bytes` is the shared memory of a group that the kernel lays out itself.
template <class... Args>
void launch_cluster(void (*kernel)(Args...), unsigned groups, unsigned lanes, unsigned bytes, queue& q,
                    const Args&... args) {
  TW_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  TW_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = groups;
  cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  cudaLaunchConfig_t how{};
  how.gridDim = groups;
  how.blockDim = lanes;
  how.dynamicSmemBytes = bytes;
  how.stream = q.stream();
  how.attrs = &cluster;
  how.numAttrs = 1;
  TW_CUDA(cudaLaunchKernelEx(&how, kernel, args...));
}

}  // namespace tilewise::backend::cuda
