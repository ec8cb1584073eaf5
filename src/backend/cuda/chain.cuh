// SPDX-License-Identifier: Apache-2.0
// What:   launches of kernels that follow each other in a stream, where the groups of the next kernel are already
//         resident when the one before ends.
// Order:  none.
// Shape:  once every group of a kernel has let the next kernel begin, the next one's groups take the resources that are
//         free, compute which work is theirs, and wait until all results of the kernel before are written.
// Limits: from compute capability 9.0 on; on older devices it is an ordinary launch. Before the wait, a kernel must not
//         access memory that other kernels write. After it, it must not read through caches that may be stale
//         (`__ldg`). All its groups must wait.
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
