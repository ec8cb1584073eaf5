// SPDX-License-Identifier: Apache-2.0
// What:   launches of kernels that follow each other in a stream, where the next one is there when the one before ends.
// Order:  none.
// Shape:  once each group of a kernel has let the next one begin, that one's groups take the room that is left, find
//         out what is theirs, and wait until all of the one before has been written.
// Limits: from compute capability 9.0 on; elsewhere such a launch is as any other. Before its wait a kernel touches
//         nothing of others, afterwards it reads by no load that may be older (`__ldg`), and all its groups wait.
// Twins:  none.
#pragma once

#include "backend/cuda/code.hpp"
#include "backend/cuda/error.hpp"
#include "backend/cuda/queue.hpp"

namespace tilewise::backend::cuda {

__device__ __forceinline__ void wait_for_kernel_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

__device__ __forceinline__ void let_next_kernel_begin() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Launches a kernel of a chain. The first one begins only when earlier work of other callers has ended. `how` is
/// complete except for the stream.
template <class... Params, class... Args>
void launch_in_chain(bool is_first, void (*kernel)(Params...), cudaLaunchConfig_t how, const queue& q,
                     const Args&... args) {
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  how.stream = q.stream();
  how.attrs = &early;
  const bool waits_by_itself = newest_code({__CUDA_ARCH_LIST__}, q.device().info().compute_capability) >= 90;
  how.numAttrs = !is_first && waits_by_itself ? 1 : 0;
  TW_CUDA(cudaLaunchKernelEx(&how, kernel, args...));
}

}  // namespace tilewise::backend::cuda
