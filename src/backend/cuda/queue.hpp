// SPDX-License-Identifier: Apache-2.0
// One in-order stream of a CUDA device, its memory pool and its clock.
#pragma once

#include "backend/backend.hpp"
#include "backend/cuda/error.hpp"
#include "backend/cuda/pool.hpp"

#include <array>
#include <cstdint>

#include <cuda_runtime_api.h>

namespace tilewise::backend::cuda {

/// Small uploads that have finished reading the host's data when they return, while the device may still be busy: two
/// pinned buffers used alternately: one is filled while the other is in flight.
class staging {
 public:
  static constexpr std::uint64_t most_bytes = 1 << 20;  // beyond it several threads are faster (transfer_team)

  void upload(void* to, const void* from, std::uint64_t bytes, cudaStream_t stream);
  void close() noexcept;

 private:
  void open();

  std::array<void*, 2> buffer_{};
  std::array<cudaEvent_t, 2> sent_{};
  unsigned next_ = 0;
};

/// A thread's own stream, for backend/transfer_team.
std::unique_ptr<lane> open_lane(int ordinal);

class queue final : public backend::queue {
 public:
  /// On its own stream, or on the caller's, which the caller keeps.
  queue(const backend::device& owner, int ordinal);
  queue(const backend::device& owner, int ordinal, cudaStream_t borrowed);
  ~queue() override;

  cudaStream_t stream() const { return stream_; }

  /// Makes this device the calling thread's current one; every entry into CUDA begins with it.
  void make_current() const;

  /// A counter that is zero between kernels: a kernel that uses it must leave it zero (atomicInc wraps by itself).
  unsigned* ticket() const { return ticket_; }

  /// At least `words` words that start at zero and then keep what kernels leave in them from call to call; all zero
  /// again when they have to grow, and after 2^31 calls, so that a kernel may number its calls in 32 bits.
  std::uint64_t* lasting(std::uint64_t words);
  /// The same after so many calls.
  std::uint64_t* lasting(std::uint64_t words, std::uint32_t most_calls);

  memory allocate(std::uint64_t bytes) override;
  void release(memory what) noexcept override;
  memory wrap(void* native, std::uint64_t bytes) override;
  void upload(memory to, const void* from, std::uint64_t bytes) override;
  void download(void* to, memory from, std::uint64_t bytes) override;
  void copy(memory to, memory from, std::uint64_t bytes) override;
  void copy_rows(memory to, std::uint64_t to_stride, memory from, std::uint64_t from_stride, std::uint64_t width,
                 std::uint64_t rows) override;
  /// Another CUDA device's memory has addresses here too; over NVLink or PCIe where the driver can, else by the host.
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
  cudaStream_t beside_ = nullptr;  // for copies beside the work; made when first needed
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

/// The CUDA queue behind `q`, with its device current: the first line of every variant's `run`.
inline queue& enter(backend::queue& q) {
  queue& entered = static_cast<queue&>(q);
  entered.make_current();
  return entered;
}

/// Allows a kernel all the shared memory that a group can have, whatever the launch at hand takes: with a limit of its
/// own, a thread could lower that of another one between that one's call and its launch. For kernels that lay out
/// their shared memory themselves.
template <class Kernel>
void allow_shared_memory(Kernel* kernel, const queue& q) {
  TW_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(q.device().info().local_memory)));
}

/// Why CUDA cannot launch this many groups in one dimension of a grid; empty if it can.
std::string too_many_groups(std::uint64_t groups);

}  // namespace tilewise::backend::cuda
