// SPDX-License-Identifier: Apache-2.0
// What:   launches of kernels whose groups all form one cluster.
// Order:  none.
// Shape:  as many groups as Hopper allows: 16, of which more than 8 must be requested explicitly.
// Limits: compute capability 9.0.
// Twins:  none.
#pragma once

#include "backend/cuda/error.hpp"
#include "backend/cuda/pipeline.cuh"
#include "backend/cuda/queue.hpp"
#include "base/lasting.hpp"

#include <map>
#include <utility>

namespace tilewise::backend::cuda {

inline constexpr unsigned most_cluster_groups = 16;

/// A kernel whose groups all form one cluster. It lays out its shared memory itself, at most `most_bytes` per group.
template <class... Args>
struct cluster_kernel {
  void (*entry)(Args...);
  unsigned lanes, most_bytes;
};

/// Sets the kernel's limits. They hold for all threads that launch it, so each thread sets the same values.
template <class... Args>
void allow_clusters(const cluster_kernel<Args...>& kernel) {
  TW_CUDA(cudaFuncSetAttribute(kernel.entry, cudaFuncAttributeMaxDynamicSharedMemorySize, kernel.most_bytes));
  TW_CUDA(cudaFuncSetAttribute(kernel.entry, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
}

/// Calls use(how) with the configuration of a launch as one cluster.
template <class... Args, class Use>
void with_cluster(const cluster_kernel<Args...>& kernel, unsigned groups, unsigned bytes, const queue& q,
                  const Use& use) {
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = groups;
  cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  cudaLaunchConfig_t how{};
  how.gridDim = groups;
  how.blockDim = kernel.lanes;
  how.dynamicSmemBytes = bytes;
  how.stream = q.stream();
  how.attrs = &cluster;
  how.numAttrs = 1;
  use(how);
}

/// Asks the driver whether the current device, of compute capability 9.0 at least, can run the largest cluster.
template <class... Args>
bool can_run_clusters(const cluster_kernel<Args...>& kernel, const queue& q) {
  allow_clusters(kernel);
  int clusters = 0;
  with_cluster(kernel, most_cluster_groups, kernel.most_bytes, q, [&](const cudaLaunchConfig_t& how) {
    const cudaError_t status = cudaOccupancyMaxActiveClusters(&clusters, kernel.entry, &how);
    status == cudaErrorInvalidClusterSize ? ignore(status) : check(status, "cudaOccupancyMaxActiveClusters");
  });
  return clusters > 0;
}

/// Whether the queue's device can run the kernel in clusters of up to most_cluster_groups. The driver is asked only
/// once.
template <class... Args>
bool runs_clusters(const cluster_kernel<Args...>& kernel, const queue& q) {
  const device_info& device = q.device().info();
  if (!has_pipeline_on(device) || kernel.most_bytes > device.local_memory) return false;
  using by_kernel = std::map<std::pair<void (*)(Args...), int>, bool>;
  static auto& answers = base::lasting([] { return base::guarded<by_kernel>(); });
  int ordinal = 0;
  TW_CUDA(cudaGetDevice(&ordinal));
  const std::pair which(kernel.entry, ordinal);
  return answers.with([&](by_kernel& known) {
    const auto answer = known.find(which);
    return answer != known.end() ? answer->second : known.emplace(which, can_run_clusters(kernel, q)).first->second;
  });
}

/// Launches the kernel as one cluster. `bytes` is the shared memory per group that the kernel lays out itself.
template <class... Args>
void launch_cluster(const cluster_kernel<Args...>& kernel, unsigned groups, unsigned bytes, queue& q,
                    const Args&... args) {
  allow_clusters(kernel);
  with_cluster(kernel, groups, bytes, q,
               [&](const cudaLaunchConfig_t& how) { TW_CUDA(cudaLaunchKernelEx(&how, kernel.entry, args...)); });
}

}  // namespace tilewise::backend::cuda
