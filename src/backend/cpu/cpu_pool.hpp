// SPDX-License-Identifier: Apache-2.0
// Host memory kept for the next call.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

namespace tilewise::backend::cpu {

/// The most this process may use: the machine's memory, or its control group's limit.
std::uint64_t physical_memory();

/// Keeps returned blocks by size; any number of threads may take and give.
class pool {
 public:
  /// Every block begins with a header of this size, which keeps the rest aligned.
  static constexpr std::uint64_t header_bytes = 256;

  pool() = default;
  ~pool() { trim(); }
  pool(const pool&) = delete;

  /// A block with room for `bytes` after its header. Throws `out_of_memory`.
  void* take(std::uint64_t bytes);
  void give(void* block) noexcept;

 private:
  void trim() noexcept;

  std::mutex mutex_;
  std::multimap<std::uint64_t, void*> idle_;
  std::uint64_t idle_bytes_ = 0;
};

}  // namespace tilewise::backend::cpu
