// SPDX-License-Identifier: Apache-2.0
// CMakeLists.txt reads the names of the calls from the macros below and links with --wrap for each. The library then
// calls __wrap_NAME, and __real_NAME is the runtime's. Add a call here and in fake_cuda.cpp when the library begins to
// use it.
#include "failing_cuda.hpp"

#include <cuda_runtime_api.h>

#include <array>
#include <string_view>
#include <utility>

namespace tilewise::tests {

namespace {

failing_calls& runtime() {
  static failing_calls calls;
  return calls;
}

std::vector<const char*>& names() {
  static std::vector<const char*> all;
  return all;
}

struct named {
  explicit named(const char* name) { names().push_back(name); }
};

/// As in the runtime, a call that failed leaves its error for cudaGetLastError.
thread_local cudaError_t last_error = cudaSuccess;
thread_local bool has_failed_launch = false;

cudaError_t fault(const char* call) {
  const auto status = static_cast<cudaError_t>(runtime().fault(call));
  if (status != cudaSuccess) last_error = status;
  return status;
}

}  // namespace

#define DECLARE(name, parameters)                  \
  namespace {                                      \
  const named name##_is_named(#name);              \
  }                                                \
  extern "C" cudaError_t __real_##name parameters; \
  extern "C" cudaError_t __wrap_##name parameters; \
  extern "C" cudaError_t __wrap_##name parameters

#define CALL(name, parameters, arguments)                       \
  DECLARE(name, parameters) {                                   \
    if (const cudaError_t status = fault(#name)) return status; \
    return __real_##name arguments;                             \
  }

// A launch reports a failure only if it is asked for. Without asking, the next kernel would use results that do not
// exist.
#define LAUNCH(name, parameters, arguments)                             \
  DECLARE(name, parameters) {                                           \
    if (std::exchange(has_failed_launch, false)) ++runtime().unchecked; \
    const cudaError_t status = fault(#name);                            \
    has_failed_launch = status != cudaSuccess;                          \
    return status != cudaSuccess ? status : __real_##name arguments;    \
  }

#define MAKE(name, parameters, arguments)                       \
  DECLARE(name, parameters) {                                   \
    if (const cudaError_t status = fault(#name)) return status; \
    const cudaError_t done = __real_##name arguments;           \
    runtime().live += done == cudaSuccess;                      \
    return done;                                                \
  }

// Calls that wait report errors of earlier work, after that has ended. Calls that release report them too, and do
// release.
#define WAIT(name, parameters, arguments)             \
  DECLARE(name, parameters) {                         \
    const cudaError_t done = __real_##name arguments; \
    const cudaError_t status = fault(#name);          \
    return status != cudaSuccess ? status : done;     \
  }

#define RELEASE(name, parameters, arguments)          \
  DECLARE(name, parameters) {                         \
    const cudaError_t done = __real_##name arguments; \
    runtime().live -= done == cudaSuccess;            \
    const cudaError_t status = fault(#name);          \
    return status != cudaSuccess ? status : done;     \
  }

CALL(cudaGetDeviceCount, (int* a), (a))
CALL(cudaGetDeviceProperties, (cudaDeviceProp * a, int b), (a, b))
CALL(cudaDeviceGetAttribute, (int* a, cudaDeviceAttr b, int c), (a, b, c))
CALL(cudaDriverGetVersion, (int* a), (a))
CALL(cudaRuntimeGetVersion, (int* a), (a))
CALL(cudaSetDevice, (int a), (a))
CALL(cudaGetDevice, (int* a), (a))
CALL(cudaMemGetInfo, (std::size_t * a, std::size_t* b), (a, b))
CALL(cudaPointerGetAttributes, (cudaPointerAttributes * a, const void* b), (a, b))
CALL(cudaDeviceCanAccessPeer, (int* a, int b, int c), (a, b, c))
CALL(cudaDeviceGetMemPool, (cudaMemPool_t * a, int b), (a, b))
CALL(cudaMemPoolSetAccess, (cudaMemPool_t a, const cudaMemAccessDesc* b, std::size_t c), (a, b, c))
CALL(cudaMemsetAsync, (void* a, int b, std::size_t c, cudaStream_t d), (a, b, c, d))
MAKE(cudaMalloc, (void** a, std::size_t b), (a, b))
DECLARE(cudaMallocAsync, (void** a, std::size_t b, cudaStream_t c)) {
  if (const cudaError_t status = fault("cudaMallocAsync")) return status;
  const cudaError_t done = __real_cudaMallocAsync(a, b, c);
  if (done != cudaSuccess) return done;
  ++runtime().live;
  return __real_cudaMemsetAsync(*a, 0xa5, b, c);  // as if the memory had been used before
}
MAKE(cudaMallocHost, (void** a, std::size_t b), (a, b))
RELEASE(cudaFree, (void* a), (a))
RELEASE(cudaFreeAsync, (void* a, cudaStream_t b), (a, b))
RELEASE(cudaFreeHost, (void* a), (a))
CALL(cudaMemcpyAsync, (void* a, const void* b, std::size_t c, cudaMemcpyKind d, cudaStream_t e), (a, b, c, d, e))
CALL(cudaMemcpy2DAsync,
     (void* a, std::size_t b, const void* c, std::size_t d, std::size_t e, std::size_t f, cudaMemcpyKind g,
      cudaStream_t h),
     (a, b, c, d, e, f, g, h))
MAKE(cudaStreamCreateWithFlags, (cudaStream_t * a, unsigned b), (a, b))
RELEASE(cudaStreamDestroy, (cudaStream_t a), (a))
WAIT(cudaStreamSynchronize, (cudaStream_t a), (a))
CALL(cudaStreamWaitEvent, (cudaStream_t a, cudaEvent_t b, unsigned c), (a, b, c))
MAKE(cudaEventCreate, (cudaEvent_t * a), (a))
MAKE(cudaEventCreateWithFlags, (cudaEvent_t * a, unsigned b), (a, b))
RELEASE(cudaEventDestroy, (cudaEvent_t a), (a))
CALL(cudaEventRecord, (cudaEvent_t a, cudaStream_t b), (a, b))
WAIT(cudaEventSynchronize, (cudaEvent_t a), (a))
CALL(cudaEventElapsedTime, (float* a, cudaEvent_t b, cudaEvent_t c), (a, b, c))
CALL(cudaOccupancyMaxActiveClusters, (int* a, const void* b, const cudaLaunchConfig_t* c), (a, b, c))
CALL(cudaFuncSetAttribute, (const void* a, cudaFuncAttribute b, int c), (a, b, c))
LAUNCH(cudaLaunchKernelExC, (const cudaLaunchConfig_t* a, const void* b, void** c), (a, b, c))
LAUNCH(cudaLaunchCooperativeKernel, (const void* a, dim3 b, dim3 c, void** d, std::size_t e, cudaStream_t f),
       (a, b, c, d, e, f))
LAUNCH(__cudaLaunchKernel, (cudaKernel_t a, dim3 b, dim3 c, void** d, std::size_t e, cudaStream_t f),
       (a, b, c, d, e, f))
DECLARE(cudaGetLastError, ()) {
  has_failed_launch = false;
  const cudaError_t status = fault("cudaGetLastError");
  const cudaError_t told = std::exchange(last_error, cudaSuccess), real = __real_cudaGetLastError();
  return status != cudaSuccess ? status : told != cudaSuccess ? told : real;
}

namespace {

/// Whether the call makes objects. These are kept between calls, so such a call must fail on a new device.
bool makes(std::string_view call) {
  return call.starts_with("cudaMalloc") || call.find("Create") != call.npos || call == "cudaMemGetInfo" ||
         call == "cudaMemsetAsync" || call == "cudaDeviceGetAttribute";
}

/// Whether the call describes the device. If it fails, the message says that the device does not answer.
bool describes(std::string_view call) {
  return call == "cudaGetDeviceCount" || call == "cudaGetDeviceProperties" || call == "cudaDeviceGetAttribute" ||
         call.ends_with("GetVersion");
}

errc meaning(int status) {
  switch (status) {
    case cudaErrorMemoryAllocation: return errc::out_of_memory;
    case cudaErrorInvalidValue:
    case cudaErrorNotSupported: return errc::unsupported;
    default: return errc::device_lost;
  }
}

bool is_out_of_memory(const error& e) { return e.code() == errc::out_of_memory; }

}  // namespace

std::vector<source> cuda_calls() {
  constexpr std::array codes{cudaErrorMemoryAllocation, cudaErrorInvalidValue, cudaErrorLaunchFailure,
                             cudaErrorIllegalAddress,   cudaErrorNotSupported, cudaErrorECCUncorrectable};
  std::vector<source> all;
  std::size_t chosen = 0;  // index of the code; each call gets the next one
  for (const char* call : names()) {
    const int status = codes[++chosen % codes.size()];
    all.push_back(failing(
        runtime(), call, status, 1,
        [status, is_description = describes(call)](const error& e) {
          return e.code() == meaning(status) || (is_description && e.code() == errc::device_lost);
        },
        makes(call)));
  }
  return all;
}

std::vector<source> cuda_memory() {
  std::vector<source> all;
  for (const char* call : {"cudaMallocAsync", "cudaMallocHost"})
    all.push_back(failing(runtime(), call, cudaErrorMemoryAllocation, 1'000'000, is_out_of_memory, true));
  return all;
}

}  // namespace tilewise::tests
