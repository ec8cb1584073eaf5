// SPDX-License-Identifier: Apache-2.0
// The entries to queues of other libraries; a backend that this build lacks says so.
#include "backend/backend.hpp"
#if TILEWISE_WITH_OPENCL
#include "backend/opencl/device.hpp"
#endif
#if TILEWISE_WITH_CUDA
#include "backend/cuda/device.hpp"
#endif
#include "base/enter.hpp"

#include <tilewise/interop.hpp>

namespace tilewise {

device from_cuda_stream([[maybe_unused]] int ordinal, [[maybe_unused]] void* stream) {
#if TILEWISE_WITH_CUDA
  return base::enter([&] { return device(backend::cuda::from_stream(ordinal, stream)); });
#else
  throw error(errc::unsupported, "this build has no CUDA backend; configure with -DTILEWISE_CUDA=ON and nvcc");
#endif
}

device from_opencl_queue([[maybe_unused]] void* queue) {
#if TILEWISE_WITH_OPENCL
  return base::enter([&] { return device(backend::opencl::from_queue(queue)); });
#else
  throw error(errc::unsupported, "this build has no OpenCL backend; configure with -DTILEWISE_OPENCL=ON");
#endif
}

}  // namespace tilewise
