// SPDX-License-Identifier: Apache-2.0
// The limit of a kernel's shared memory, which is one for all threads that launch the kernel on a device.
#pragma once

#include "backend/cuda/error.hpp"
#include "backend/cuda/queue.hpp"

namespace tilewise::backend::cuda {

/// Allows a kernel all the shared memory that a group can have, whatever the launch at hand takes: with a limit of its
/// own, a thread could lower that of another one between that one's call and its launch. For kernels that lay out
/// their shared memory themselves.
template <class Kernel>
void allow_shared_memory(Kernel* kernel, const queue& q) {
  TW_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(q.device().info().local_memory)));
}

}  // namespace tilewise::backend::cuda
