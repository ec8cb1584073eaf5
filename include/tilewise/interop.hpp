// SPDX-License-Identifier: Apache-2.0
// Uses memory and queues of other libraries without copies. Handles are passed as void*, so that no CUDA or OpenCL
// header is needed here. The caller must keep them alive as long as the device or array made from them exists.
#pragma once

#include <tilewise/array.hpp>
#include <tilewise/export.hpp>

namespace tilewise {

/// A device whose queue is the caller's cudaStream_t on CUDA device `ordinal`; nullptr is the default stream.
TILEWISE_API device from_cuda_stream(int ordinal, void* stream);

/// A device whose queue is the caller's cl_command_queue, which must be in-order.
TILEWISE_API device from_opencl_queue(void* queue);

/// An array over `count` elements that the caller owns: a CUDA device pointer, a cl_mem or, on a CPU device, a host
/// pointer. Throws `invalid_argument` if `native` is null and `count` is not 0, or if `count` exceeds the address
/// space.
template <class T>
TILEWISE_API array<T> view(const device& on, void* native, std::uint64_t count);

}  // namespace tilewise
