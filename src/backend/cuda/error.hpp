// SPDX-License-Identifier: Apache-2.0
// CUDA's error codes as tilewise::error.
#pragma once

#include "backend/driver_call.hpp"

#include <tilewise/error.hpp>

#include <cuda_runtime_api.h>

namespace tilewise::backend::cuda {

/// Throws out_of_memory, device_lost if the error makes the context unusable, or else unsupported. `call` is the call's
/// text. Clears the runtime's last error.
[[noreturn]] void fail(cudaError_t status, const char* call);

inline void check(cudaError_t status, const char* call) {
  if (status != cudaSuccess) fail(status, call);
}

/// For destructors: ignores an error and clears the runtime's last error.
inline void ignore(cudaError_t status) noexcept {
  if (status != cudaSuccess) static_cast<void>(cudaGetLastError());
}

}  // namespace tilewise::backend::cuda

#define TW_CUDA(call) \
  ::tilewise::backend::cuda::check(::tilewise::backend::during(#call, [&] { return (call); }), #call)
#define TW_CUDA_NOTHROW(call) ::tilewise::backend::cuda::ignore((call))
