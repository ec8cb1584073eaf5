// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/staging.hpp"

#include "backend/cuda/error.hpp"

#include <cstring>

namespace tilewise::backend::cuda {

void staging::open() {
  for (unsigned i = 0; i < 2; ++i) {
    if (buffer_[i] == nullptr) TW_CUDA(cudaMallocHost(&buffer_[i], most_bytes));
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
  open();
  TW_CUDA(cudaEventSynchronize(sent_[next_]));
  std::memcpy(buffer_[next_], from, bytes);
  TW_CUDA(cudaMemcpyAsync(to, buffer_[next_], bytes, cudaMemcpyHostToDevice, stream));
  TW_CUDA(cudaEventRecord(sent_[next_], stream));
  next_ ^= 1;
}

}  // namespace tilewise::backend::cuda
