// SPDX-License-Identifier: Apache-2.0
// A CUDA device's queue: one in-order stream, its memory pool and its clock.
#pragma once

#include "backend/backend.hpp"
#include "backend/cuda/error.hpp"
#include "backend/cuda/pool.hpp"

#include <array>
#include <cstdint>

#include <cuda_runtime_api.h>

namespace tilewise::backend::cuda {

/// Small uploads. They return once the host's data is copied to one of two pinned buffers; the device may still be
/// busy. The buffers alternate: one is filled while the other is in flight.
class staging {
 public:
  static constexpr std::uint64_t most_bytes = 1 << 20;  // above it, several threads are faster (transfer_team)

  void upload(void* to, const void* from, std::uint64_t bytes, cudaStream_t stream);
  void close() noexcept;

 private:
  void open();

  std::array<void*, 2> buffer_{};
  std::array<cudaEvent_t, 2> sent_{};
  unsigned next_ = 0;
};

/// A separate stream for one thread of backend/transfer_team.
std::unique_ptr<lane> open_lane(int ordinal);

class queue final : public backend::queue {
 public:
  /// A queue on a new stream, or on the caller's stream, which the caller still owns.
  queue(const backend::device& owner, int ordinal);
  queue(const backend::device& owner, int ordinal, cudaStream_t borrowed);
  ~queue() override;

  cudaStream_t stream() const { return stream_; }

  /// Makes this the calling thread's current device. Must be called before any use of CUDA.
  void make_current() const;

  /// A counter that is zero between kernels: a kernel that uses it must leave it zero (atomicInc wraps by itself).
  unsigned* ticket() const { return ticket_; }

  /// At least `words` words that keep their contents from call to call. They are zero at first, after they had to grow,
  /// and after every 2^31 calls, so that a kernel can number its calls with 32 bits.
  std::uint64_t* lasting(std::uint64_t words);
  /// The same, but zero again after every `most_calls` calls.
  std::uint64_t* lasting(std::uint64_t words, std::uint32_t most_calls);

  memory allocate(std::uint64_t bytes) override;
  void release(memory what) noexcept override;
  memory wrap(void* native, std::uint64_t bytes) override;
  void upload(memory to, const void* from, std::uint64_t bytes) override;
  void download(void* to, memory from, std::uint64_t bytes) override;
  void copy(memory to, memory from, std::uint64_t bytes) override;
  void copy_rows(memory to, std::uint64_t to_stride, memory from, std::uint64_t from_stride, std::uint64_t width,
                 std::uint64_t rows) override;
  /// True for other CUDA devices: `copy` uses NVLink or PCIe if the driver can, otherwise the host.
  bool reaches(const backend::queue& other) const override { return other.device().info().backend == "cuda"; }
  void open_to(const backend::queue& other) override;
  bool reads(const backend::queue& other) const override;
  unsigned leave_mark() override;
  unsigned beside(const std::function<void()>& enqueue) override;
  void follow(const backend::queue& other, unsigned mark) override;
  transfer_team* transfers() override { return transfers_.get(); }
  double multiply_add(dtype type) override;
  void finish() override;
  void start_clock() override;
  double stop_clock() override;
  std::string_view clock_name() const override { return "cuda_events"; }
  arithmetic probe_arithmetic(std::span<const float> a, std::span<const float> b, std::span<const float> c) override;

 private:
  void open();
  void close() noexcept;

  int ordinal_;
  bool owns_stream_;
  cudaStream_t stream_ = nullptr;
  cudaStream_t beside_ = nullptr;  // for beside(); made when first needed
  std::array<cudaEvent_t, 2> clock_{};
  std::array<cudaEvent_t, 32> marks_{};
  unsigned last_mark_ = 0;
  unsigned* ticket_ = nullptr;
  std::uint64_t* lasting_ = nullptr;
  std::uint64_t lasting_words_ = 0;
  std::uint32_t lasting_calls_ = 0;
  pool pool_;
  staging staging_;
  std::unique_ptr<transfer_team> transfers_;
};

/// Returns `q` as a CUDA queue and makes its device current. The first line of every variant's `run`.
inline queue& enter(backend::queue& q) {
  queue& entered = static_cast<queue&>(q);
  entered.make_current();
  return entered;
}

/// Allows a kernel the largest amount of shared memory, whatever this launch needs. With a smaller limit, one thread
/// could lower the limit between another thread's call and its launch. For kernels that lay out their shared memory
/// themselves.
template <class Kernel>
void allow_shared_memory(Kernel* kernel, const queue& q) {
  TW_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(q.device().info().local_memory)));
}

/// Why CUDA cannot launch this many thread blocks in one dimension of a grid; empty if it can.
std::string too_many_groups(std::uint64_t groups);

}  // namespace tilewise::backend::cuda
