// SPDX-License-Identifier: Apache-2.0
// A pool of device memory, ordered by one stream.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace tilewise::backend::cuda {

/// Free lists by size class on top of the driver's stream-ordered allocator. Released memory can be reused at once,
/// since the new owner's work is enqueued after the old owner's. So the steady state makes no driver calls.
class pool {
 public:
  /// The pool never holds more than `limit` bytes.
  void open(int ordinal, cudaStream_t stream, std::uint64_t limit);
  /// Frees all memory, including memory that is still in use. Never fails.
  void close() noexcept;

  /// Lets another device, which must support that, read and write the memory.
  void open_to(int ordinal);
  bool is_open_to(int ordinal) const;

  /// Memory aligned to 256 bytes. Throws `out_of_memory` with the bytes needed and the bytes free.
  void* take(std::uint64_t bytes);
  /// Returns memory of take() to the pool.
  void give(void* base) noexcept;

 private:
  /// Fails like the driver if the pool would exceed its limit.
  cudaError_t allocate(void** base, std::uint64_t bytes) noexcept;
  void free(void* base, std::uint64_t bytes) noexcept;
  void trim() noexcept;
  [[noreturn]] void refuse(std::uint64_t bytes) const;

  int ordinal_ = 0;
  cudaStream_t stream_ = nullptr;
  bool stream_ordered_ = false;
  std::vector<int> readers_;  // devices for which open_to was called
  std::uint64_t limit_ = 0;
  std::uint64_t held_ = 0;        // bytes allocated from the driver
  std::uint64_t kept_ = 0;        // bytes in the free lists
  std::uint64_t kept_limit_ = 0;  // above it, memory is returned to the driver
  std::map<std::uint64_t, std::vector<void*>> free_;
  std::unordered_map<void*, std::uint64_t> live_;
};

}  // namespace tilewise::backend::cuda
