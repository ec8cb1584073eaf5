// SPDX-License-Identifier: Apache-2.0
// Device memory kept for its next use, in the order of one stream.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace tilewise::backend::cuda {

/// Free lists by size class over the driver's stream-ordered allocator. What is given back may be handed out again at
/// once: the new owner's work is enqueued after the old owner's. So the steady state makes no driver call.
class pool {
 public:
  /// Never holds more than `limit` bytes.
  void open(int ordinal, cudaStream_t stream, std::uint64_t limit);
  /// Frees everything, even what was not given back. Never fails.
  void close() noexcept;

  /// Lets another device read and write the memory, which it must be able to.
  void open_to(int ordinal);
  bool is_open_to(int ordinal) const;

  /// Aligned to 256 bytes. Throws `out_of_memory` with the need and what is free.
  void* take(std::uint64_t bytes);
  /// `base` comes from take().
  void give(void* base) noexcept;

 private:
  /// Memory beyond the limit is memory that is not there.
  cudaError_t allocate(void** base, std::uint64_t bytes) noexcept;
  void free(void* base, std::uint64_t bytes) noexcept;
  void trim() noexcept;
  [[noreturn]] void refuse(std::uint64_t bytes) const;

  int ordinal_ = 0;
  cudaStream_t stream_ = nullptr;
  bool stream_ordered_ = false;
  std::vector<int> readers_;  // other devices
  std::uint64_t limit_ = 0;
  std::uint64_t held_ = 0;        // bytes of the driver's memory
  std::uint64_t kept_ = 0;        // bytes in the free lists
  std::uint64_t kept_limit_ = 0;  // beyond it, memory goes back to the driver
  std::map<std::uint64_t, std::vector<void*>> free_;
  std::unordered_map<void*, std::uint64_t> live_;
};

}  // namespace tilewise::backend::cuda
