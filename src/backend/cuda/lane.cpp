// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/error.hpp"
#include "backend/cuda/queue.hpp"
#include "backend/transfer_team.hpp"

#include <array>

namespace tilewise::backend::cuda {

namespace {

bool device_reaches(const void* host) {
  cudaPointerAttributes facts{};
  if (const cudaError_t status = cudaPointerGetAttributes(&facts, host); status != cudaSuccess) {
    ignore(status);
    return false;
  }
  return facts.type == cudaMemoryTypeHost;
}

/// Pinned memory or, if the system cannot pin more, pageable memory, which costs the driver one more copy.
struct buffer_memory {
  std::byte* address = nullptr;
  std::vector<std::byte> pageable = {};

  void allocate() {
    void* pinned = nullptr;
    const cudaError_t status = cudaMallocHost(&pinned, lane::buffer_bytes);
    ignore(status);
    if (status != cudaSuccess) pageable.resize(lane::buffer_bytes);
    address = status == cudaSuccess ? static_cast<std::byte*>(pinned) : pageable.data();
  }
  void release() noexcept {
    if (address != nullptr && pageable.empty()) TW_CUDA_NOTHROW(cudaFreeHost(address));
  }
};

class cuda_lane final : public lane {
 public:
  explicit cuda_lane(int ordinal) {
    TW_CUDA(cudaSetDevice(ordinal));
    try {
      TW_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
      for (cudaEvent_t& event : done_)  // waits without sleeping: waking up cost a tenth of the link's bandwidth
        TW_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
      for (buffer_memory& memory : buffer_) memory.allocate();
    } catch (...) {
      close();
      throw;
    }
  }
  ~cuda_lane() override { close(); }

  std::byte* buffer(unsigned turn) override { return buffer_[turn].address; }
  bool is_pinned() const override { return buffer_[0].pageable.empty() && buffer_[1].pageable.empty(); }
  bool reaches(const void* host) const override { return device_reaches(host); }

  void send(unsigned turn, memory to, const void* host, std::uint64_t bytes) override {
    TW_CUDA(cudaMemcpyAsync(to.as<void>(), host, bytes, cudaMemcpyHostToDevice, stream_));
    TW_CUDA(cudaEventRecord(done_[turn], stream_));
  }
  void fetch(unsigned turn, void* host, memory from, std::uint64_t bytes) override {
    TW_CUDA(cudaMemcpyAsync(host, from.as<void>(), bytes, cudaMemcpyDeviceToHost, stream_));
    TW_CUDA(cudaEventRecord(done_[turn], stream_));
  }
  void wait(unsigned turn) override { TW_CUDA(cudaEventSynchronize(done_[turn])); }

 private:
  void close() noexcept {
    for (buffer_memory& memory : buffer_) memory.release();
    for (cudaEvent_t event : done_)
      if (event != nullptr) TW_CUDA_NOTHROW(cudaEventDestroy(event));
    if (stream_ != nullptr) TW_CUDA_NOTHROW(cudaStreamDestroy(stream_));
  }

  cudaStream_t stream_ = nullptr;
  std::array<cudaEvent_t, 2> done_{};
  std::array<buffer_memory, 2> buffer_{};
};

}  // namespace

std::unique_ptr<lane> open_lane(int ordinal) { return std::make_unique<cuda_lane>(ordinal); }

}  // namespace tilewise::backend::cuda
