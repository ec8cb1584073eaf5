// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/cpu_pool.hpp"

#include "base/ceil_div.hpp"
#include "base/huge_pages.hpp"
#include "base/memory_group.hpp"

#include <tilewise/error.hpp>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>
#include <string>

#include <unistd.h>

namespace tilewise::backend::cpu {

std::uint64_t physical_memory() {
  static const std::uint64_t bytes =
      std::min(static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE)),
               base::memory_of_groups().most);
  return bytes;
}

namespace {

/// Blocks can be reused if few sizes exist: powers of two with eight steps between them, so at most 1/8 is lost.
std::uint64_t size_class(std::uint64_t bytes) {
  const std::uint64_t wanted = std::max<std::uint64_t>(bytes + pool::header_bytes, 4096);
  const std::uint64_t step = std::max<std::uint64_t>(std::bit_floor(wanted) / 8, 256);
  return ceil_div(wanted, step) * step;
}

[[noreturn]] void no_memory(std::uint64_t bytes) {
  throw error(errc::out_of_memory, "this needs " + std::to_string(bytes) + " bytes, more than the host can give; of " +
                                       std::to_string(physical_memory()) + " bytes in total its control groups leave " +
                                       std::to_string(std::min(physical_memory(), base::memory_of_groups().left)) +
                                       "; use a smaller array");
}

/// The kernel promises what a control group does not have, and kills the process when it is written. The question takes
/// some 0.1 ms, as the kernel does to find a few MiB.
bool is_left_in_groups(std::uint64_t bytes) {
  constexpr std::uint64_t worth_asking = 32 << 20;
  static const bool have_limits = base::memory_of_groups().most != base::group_memory().most;
  return bytes < worth_asking || !have_limits || bytes <= base::memory_of_groups().left;
}

}  // namespace

void* pool::take(std::uint64_t bytes) {
  if (bytes > physical_memory()) no_memory(bytes);  // the kernel would promise it and kill the process later
  const std::uint64_t size = size_class(bytes);
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = idle_.find(size); found != idle_.end()) {
      void* const block = found->second;
      idle_.erase(found);
      idle_bytes_ -= size;
      return block;
    }
  }
  const auto allocate = [size] { return is_left_in_groups(size) ? base::allocate(size) : nullptr; };
  void* block = allocate();
  if (block == nullptr) {
    trim();
    block = allocate();
  }
  if (block == nullptr) no_memory(bytes);
  *static_cast<std::uint64_t*>(block) = size;
  return block;
}

void pool::give(void* block) noexcept {
  const std::uint64_t size = *static_cast<std::uint64_t*>(block);
  try {
    const std::lock_guard lock(mutex_);
    // Idle blocks are lost to others: keep at most an eighth of the machine's memory.
    if (idle_bytes_ + size <= physical_memory() / 8) {
      idle_.emplace(size, block);
      idle_bytes_ += size;
      return;
    }
  } catch (const std::bad_alloc&) {
    // No memory to record it.
  }
  std::free(block);
}

void pool::trim() noexcept {
  const std::lock_guard lock(mutex_);
  for (const auto& [size, block] : idle_) std::free(block);
  idle_.clear();
  idle_bytes_ = 0;
}

}  // namespace tilewise::backend::cpu
