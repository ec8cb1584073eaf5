// SPDX-License-Identifier: Apache-2.0
// A pool of host memory for later calls.
#pragma once

#include <cstdint>

namespace tilewise::backend::cpu {

/// The bytes that this process may use: the machine's memory, or its control group's limit.
std::uint64_t physical_memory();

struct idle_blocks;

/// Keeps returned blocks by size. Any number of threads may call take() and give(). Since others cannot use idle
/// blocks, all pools of the process together keep at most an eighth of the machine's memory.
class pool {
 public:
  /// Every block begins with a header of this size, which keeps the rest aligned.
  static constexpr std::uint64_t header_bytes = 256;

  pool();
  ~pool();
  pool(const pool&) = delete;

  /// A block with `bytes` after its header. Before it throws `out_of_memory`, all pools free their idle blocks.
  void* take(std::uint64_t bytes);
  void give(void* block) noexcept;

 private:
  idle_blocks& idle_;
};

}  // namespace tilewise::backend::cpu
