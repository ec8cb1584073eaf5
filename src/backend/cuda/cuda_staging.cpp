#include "backend/cuda/cuda_staging.hpp"

#include "backend/cuda/cuda_error.hpp"

#include <algorithm>
#include <cstring>

namespace tilewise::backend::cuda {

namespace {

constexpr std::uint64_t buffer_bytes = 4 << 20;  // amortizes a copy's start-up, yet stays in the cache

bool is_pinned(const void* address) {
  cudaPointerAttributes facts{};
  if (const cudaError_t status = cudaPointerGetAttributes(&facts, address); status != cudaSuccess) {
    ignore(status);
    return false;
  }
  return facts.type == cudaMemoryTypeHost;
}

}  // namespace

void staging::open() {
  for (unsigned i = 0; i < 2; ++i) {
    if (buffer_[i] == nullptr) TW_CUDA(cudaMallocHost(&buffer_[i], buffer_bytes));
    if (sent_[i] == nullptr) TW_CUDA(cudaEventCreateWithFlags(&sent_[i], cudaEventDisableTiming));
  }
}

void staging::close() noexcept {
  for (unsigned i = 0; i < 2; ++i) {
    if (sent_[i] != nullptr) TW_CUDA_NOTHROW(cudaEventDestroy(sent_[i]));
    if (buffer_[i] != nullptr) TW_CUDA_NOTHROW(cudaFreeHost(buffer_[i]));
  }
}

void staging::upload(void* to, const void* from, std::uint64_t bytes, cudaStream_t stream) {
  if (bytes > buffer_bytes && is_pinned(from)) {
    TW_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream));
    TW_CUDA(cudaStreamSynchronize(stream));
    return;
  }
  open();
  for (std::uint64_t done = 0; done < bytes; done += buffer_bytes, next_ ^= 1) {
    const std::uint64_t part = std::min(buffer_bytes, bytes - done);
    TW_CUDA(cudaEventSynchronize(sent_[next_]));
    std::memcpy(buffer_[next_], static_cast<const char*>(from) + done, part);
    TW_CUDA(cudaMemcpyAsync(static_cast<char*>(to) + done, buffer_[next_], part, cudaMemcpyHostToDevice, stream));
    TW_CUDA(cudaEventRecord(sent_[next_], stream));
  }
}

}  // namespace tilewise::backend::cuda
