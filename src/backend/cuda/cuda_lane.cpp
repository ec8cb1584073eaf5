#include "backend/cuda/cuda_lane.hpp"

#include "backend/cuda/cuda_error.hpp"

#include <array>

namespace tilewise::backend::cuda {

bool is_pinned(const void* host) {
  cudaPointerAttributes facts{};
  if (const cudaError_t status = cudaPointerGetAttributes(&facts, host); status != cudaSuccess) {
    ignore(status);
    return false;
  }
  return facts.type == cudaMemoryTypeHost;
}

namespace {

class cuda_lane final : public lane {
 public:
  explicit cuda_lane(int ordinal) {
    TW_CUDA(cudaSetDevice(ordinal));
    try {
      TW_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
      for (cudaEvent_t& event : done_)  // waited for without sleeping: waking up cost a tenth of the link's speed
        TW_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
      for (void*& memory : buffer_) TW_CUDA(cudaMallocHost(&memory, buffer_bytes));
    } catch (...) {
      close();
      throw;
    }
  }
  ~cuda_lane() override { close(); }

  std::byte* buffer(unsigned turn) override { return static_cast<std::byte*>(buffer_[turn]); }
  bool reaches(const void* host) const override { return is_pinned(host); }

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
    for (void* memory : buffer_)
      if (memory != nullptr) TW_CUDA_NOTHROW(cudaFreeHost(memory));
    for (cudaEvent_t event : done_)
      if (event != nullptr) TW_CUDA_NOTHROW(cudaEventDestroy(event));
    if (stream_ != nullptr) TW_CUDA_NOTHROW(cudaStreamDestroy(stream_));
  }

  cudaStream_t stream_ = nullptr;
  std::array<cudaEvent_t, 2> done_{};
  std::array<void*, 2> buffer_{};
};

}  // namespace

std::unique_ptr<lane> open_lane(int ordinal) { return std::make_unique<cuda_lane>(ordinal); }

}  // namespace tilewise::backend::cuda
