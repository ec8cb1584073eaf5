// SPDX-License-Identifier: Apache-2.0
// Host memory kept for the next call.
#pragma once

#include <cstdint>

namespace tilewise::backend::cpu {

/// The most this process may use: the machine's memory, or its control group's limit.
std::uint64_t physical_memory();

struct idle_blocks;

/// Keeps returned blocks by size; any number of threads may take and give. Idle blocks are lost to others: all pools of
/// the process together keep an eighth of the machine's memory at most.
class pool {
 public:
  /// Every block begins with a header of this size, which keeps the rest aligned.
  static constexpr std::uint64_t header_bytes = 256;

  pool();
  ~pool();
  pool(const pool&) = delete;

  /// A block with room for `bytes` after its header. Throws `out_of_memory`, once no pool keeps any.
  void* take(std::uint64_t bytes);
  void give(void* block) noexcept;

 private:
  idle_blocks& idle_;
};

}  // namespace tilewise::backend::cpu
