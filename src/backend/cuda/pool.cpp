// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/pool.hpp"

#include "backend/cuda/error.hpp"
#include "base/ceil_div.hpp"

#include <algorithm>
#include <bit>
#include <string>

namespace tilewise::backend::cuda {

namespace {

/// Eight size classes per power of two: at most an eighth is wasted, and similar sizes share a list.
std::uint64_t size_class(std::uint64_t bytes) {
  const std::uint64_t step = std::max<std::uint64_t>(256, std::bit_floor(bytes) / 8);
  return ceil_div(bytes, step) * step;
}

}  // namespace

void pool::open(int ordinal, cudaStream_t stream, std::uint64_t limit) {
  limit_ = limit;
  ordinal_ = ordinal;
  stream_ = stream;
  int supported = 0;
  TW_CUDA(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, ordinal));
  stream_ordered_ = supported != 0;
  std::size_t unused = 0, total = 0;
  TW_CUDA(cudaMemGetInfo(&unused, &total));
  kept_limit_ = total / 2;  // leaves the other half to other libraries in the process
}

void pool::open_to(int ordinal) {
  if (!stream_ordered_ || is_open_to(ordinal)) return;  // otherwise the driver copies through the host
  cudaMemPool_t memory = nullptr;
  TW_CUDA(cudaDeviceGetMemPool(&memory, ordinal_));
  cudaMemAccessDesc access{};
  access.location = {cudaMemLocationTypeDevice, ordinal};
  access.flags = cudaMemAccessFlagsProtReadWrite;
  TW_CUDA(cudaMemPoolSetAccess(memory, &access, 1));
  readers_.push_back(ordinal);
}

bool pool::is_open_to(int ordinal) const {
  return ordinal == ordinal_ || std::find(readers_.begin(), readers_.end(), ordinal) != readers_.end();
}

void pool::close() noexcept {
  trim();
  for (const auto& [base, bytes] : live_) free(base, bytes);
  live_.clear();
}

cudaError_t pool::allocate(void** base, std::uint64_t bytes) noexcept {
  if (bytes > limit_ - held_) return cudaErrorMemoryAllocation;
  const cudaError_t status = stream_ordered_ ? cudaMallocAsync(base, bytes, stream_) : cudaMalloc(base, bytes);
  if (status == cudaSuccess) held_ += bytes;
  return status;
}

void pool::free(void* base, std::uint64_t bytes) noexcept {
  held_ -= bytes;
  TW_CUDA_NOTHROW(cudaSetDevice(ordinal_));
  TW_CUDA_NOTHROW(stream_ordered_ ? cudaFreeAsync(base, stream_) : cudaFree(base));
}

void pool::trim() noexcept {
  for (const auto& [bytes, bases] : free_)
    for (void* base : bases) free(base, bytes);
  free_.clear();
  kept_ = 0;
}

void* pool::take(std::uint64_t bytes) {
  if (bytes > ~std::uint64_t{0} / 2) refuse(bytes);
  const std::uint64_t rounded = size_class(bytes);
  void* base = nullptr;
  if (auto& list = free_[rounded]; !list.empty()) {
    base = list.back();
    list.pop_back();
    kept_ -= rounded;
  } else if (cudaError_t status = allocate(&base, rounded); status != cudaSuccess) {
    if (status != cudaErrorMemoryAllocation) fail(status, "cudaMallocAsync");
    TW_CUDA_NOTHROW(status);
    trim();
    TW_CUDA(cudaStreamSynchronize(stream_));  // freed memory is available only once the stream has reached the free
    status = allocate(&base, rounded);
    TW_CUDA_NOTHROW(status);
    if (status != cudaSuccess) refuse(bytes);
  }
  try {
    live_.emplace(base, rounded);
  } catch (...) {
    free(base, rounded);
    throw;
  }
  return base;
}

void pool::give(void* base) noexcept {
  const auto found = live_.find(base);
  const std::uint64_t bytes = found->second;
  live_.erase(found);
  if (kept_ + bytes > kept_limit_) return free(base, bytes);
  try {
    free_[bytes].push_back(base);
    kept_ += bytes;
  } catch (const std::bad_alloc&) {
    free(base, bytes);
  }
}

void pool::refuse(std::uint64_t bytes) const {
  std::size_t unused = 0, total = 0;
  TW_CUDA_NOTHROW(cudaMemGetInfo(&unused, &total));
  throw error(errc::out_of_memory, "cuda:" + std::to_string(ordinal_) + " has no room for " + std::to_string(bytes) +
                                       " bytes: " + std::to_string(std::min<std::uint64_t>(unused, limit_ - held_)) +
                                       " of its " + std::to_string(std::min<std::uint64_t>(total, limit_)) +
                                       " are free; use less data or free other arrays first");
}

}  // namespace tilewise::backend::cuda
