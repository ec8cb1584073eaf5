// SPDX-License-Identifier: Apache-2.0
// A substitute for NVIDIA's CUDA runtime that has two devices without a GPU. Memory is the host's, and a kernel fills
// all of it with one byte, so results are wrong but always the same. It tests what the library does when calls fail;
// failing_cuda.cpp makes them fail.
#include "failing_allocations.hpp"

#include <cuda_runtime_api.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

namespace {

constexpr int result_byte = 1;
thread_local int current = 0;  // the device
std::mutex mutex;

std::map<void*, std::size_t>& device_memory() {
  static auto* const all = new std::map<void*, std::size_t>;  // programs free memory until they end
  return *all;
}

std::map<std::pair<const void*, cudaFuncAttribute>, int>& kernel_limits() {
  static auto* const all = new std::map<std::pair<const void*, cudaFuncAttribute>, int>;
  return *all;
}

cudaError_t allocate(void** to, std::size_t bytes) {
  const tilewise::tests::no_failures here;
  const std::lock_guard lock(mutex);
  *to = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (*to == nullptr) return cudaErrorMemoryAllocation;
  std::memset(*to, 0, bytes);
  device_memory()[*to] = bytes;
  return cudaSuccess;
}

cudaError_t release(void* what) {
  const std::lock_guard lock(mutex);
  device_memory().erase(what);
  std::free(what);
  return cudaSuccess;
}

cudaError_t launch() {
  const std::lock_guard lock(mutex);
  for (const auto& [memory, bytes] : device_memory()) std::memset(memory, result_byte, bytes);
  return cudaSuccess;
}

/// Streams and events are only addresses.
template <class Handle>
cudaError_t make(Handle* to) {
  *to = reinterpret_cast<Handle>(std::malloc(1));
  return cudaSuccess;
}
cudaError_t unmake(void* what) {
  std::free(what);
  return cudaSuccess;
}

template <class T>
cudaError_t answer(T* to, T value) {
  *to = value;
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int* to) { return answer(to, 2); }
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* to, int) {
  *to = {};
  std::strcpy(to->name, "fake");
  to->major = 9;
  to->multiProcessorCount = 132;
  to->totalGlobalMem = std::size_t{1} << 32;
  to->l2CacheSize = 50 << 20;
  to->sharedMemPerBlockOptin = 227 << 10;
  to->maxThreadsPerBlock = 1024;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* to, cudaDeviceAttr which, int) {
  return answer(to, which == cudaDevAttrComputeCapabilityMajor ? 9 : 1);
}
cudaError_t cudaDriverGetVersion(int* to) { return answer(to, 13000); }
cudaError_t cudaRuntimeGetVersion(int* to) { return answer(to, 13000); }
cudaError_t cudaSetDevice(int which) { return current = which, cudaSuccess; }
cudaError_t cudaGetDevice(int* to) { return answer(to, current); }
cudaError_t cudaMemGetInfo(std::size_t* unused, std::size_t* total) {
  return *unused = *total = std::size_t{1} << 32, cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* to, const void*) { return answer(to, {}); }
cudaError_t cudaDeviceCanAccessPeer(int* to, int, int) { return answer(to, 1); }
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* to, int) { return answer(to, cudaMemPool_t{}); }
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t, const cudaMemAccessDesc*, std::size_t) { return cudaSuccess; }
cudaError_t cudaMalloc(void** to, std::size_t bytes) { return allocate(to, bytes); }
cudaError_t cudaMallocAsync(void** to, std::size_t bytes, cudaStream_t) { return allocate(to, bytes); }
cudaError_t cudaFree(void* what) { return release(what); }
cudaError_t cudaFreeAsync(void* what, cudaStream_t) { return release(what); }
cudaError_t cudaMallocHost(void** to, std::size_t bytes) { return answer(to, std::malloc(bytes)); }
cudaError_t cudaFreeHost(void* what) { return unmake(what); }
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t) {
  return std::memmove(to, from, bytes), cudaSuccess;
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_stride, const void* from, std::size_t from_stride,
                              std::size_t width, std::size_t rows, cudaMemcpyKind, cudaStream_t) {
  for (std::size_t i = 0; i < rows; ++i)
    std::memmove(static_cast<char*>(to) + i * to_stride, static_cast<const char*>(from) + i * from_stride, width);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* to, int byte, std::size_t bytes, cudaStream_t) {
  return std::memset(to, byte, bytes), cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* to, unsigned) { return make(to); }
cudaError_t cudaStreamDestroy(cudaStream_t what) { return unmake(what); }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
cudaError_t cudaEventCreate(cudaEvent_t* to) { return make(to); }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* to, unsigned) { return make(to); }
cudaError_t cudaEventDestroy(cudaEvent_t what) { return unmake(what); }
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float* to, cudaEvent_t, cudaEvent_t) { return answer(to, 1.0f); }
cudaError_t cudaOccupancyMaxActiveClusters(int* to, const void*, const cudaLaunchConfig_t*) { return answer(to, 1); }
/// Refuses to change a kernel's limit once it is set: threads that launch it would set it back and forth.
cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute which, int value) {
  const tilewise::tests::no_failures here;
  const std::lock_guard lock(mutex);
  const auto [limit, is_new] = kernel_limits().try_emplace({kernel, which}, value);
  return is_new || limit->second == value ? cudaSuccess : cudaErrorInvalidValue;
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t*, const void*, void**) { return launch(); }
cudaError_t cudaLaunchCooperativeKernel(const void*, dim3, dim3, void**, std::size_t, cudaStream_t) { return launch(); }
cudaError_t cudaGetLastError() { return cudaSuccess; }
const char* cudaGetErrorName(cudaError_t) { return "cudaErrorOfTheTest"; }
const char* cudaGetErrorString(cudaError_t) { return "an error of the test"; }

// Functions that nvcc's code calls to register kernels and constants, and to launch kernels.
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, std::size_t, cudaStream_t);
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, std::size_t, cudaStream_t) { return launch(); }
unsigned __cudaPushCallConfiguration(dim3, dim3, std::size_t, CUstream_st*);
unsigned __cudaPushCallConfiguration(dim3, dim3, std::size_t, CUstream_st*) { return 0; }
cudaError_t __cudaPopCallConfiguration(dim3*, dim3*, std::size_t*, void*);
cudaError_t __cudaPopCallConfiguration(dim3*, dim3*, std::size_t*, void*) { return cudaSuccess; }
cudaError_t __cudaGetKernel(cudaKernel_t*, const void*);
cudaError_t __cudaGetKernel(cudaKernel_t*, const void*) { return cudaSuccess; }
void** __cudaRegisterFatBinary(void*);
void** __cudaRegisterFatBinary(void*) { return nullptr; }
void __cudaRegisterFatBinaryEnd(void**);
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**);
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, uint3*, uint3*, dim3*, dim3*, int*);
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, uint3*, uint3*, dim3*, dim3*, int*) {}
void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int);
void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int) {}
}
