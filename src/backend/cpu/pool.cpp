// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/pool.hpp"

#include "base/ceil_div.hpp"
#include "base/control_groups.hpp"
#include "base/huge_pages.hpp"
#include "base/lasting.hpp"

#include <tilewise/error.hpp>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include <unistd.h>

namespace tilewise::backend::cpu {

std::uint64_t physical_memory() {
  static const std::uint64_t bytes =
      std::min(static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE)),
               base::memory_of_groups().most);
  return bytes;
}

namespace {

/// The beginning of each block.
struct header {
  std::uint64_t size;
  header* next;  // in the list of its pool's idle blocks of this size
};
static_assert(sizeof(header) <= pool::header_bytes);

}  // namespace

/// The idle blocks of all pools of the process.
struct idle_blocks {
  /// From pool and size to the first idle block. An entry stays when its list becomes empty, so that taking a block and
  /// giving it back does not change the tree.
  using map = std::map<std::pair<const pool*, std::uint64_t>, header*>;

  std::mutex mutex;
  map blocks;
  std::uint64_t bytes = 0;

  /// Removes the first block from the list and returns it.
  header* forget(map::iterator at) {
    bytes -= at->first.second;
    return std::exchange(at->second, at->second->next);
  }
  void free(map::iterator at) {
    while (at->second != nullptr) std::free(forget(at));
  }
  void free_all() {
    const std::lock_guard lock(mutex);
    for (auto at = blocks.begin(); at != blocks.end(); ++at) free(at);
  }
};

namespace {

/// Blocks are reused more often if there are few sizes: powers of two with eight steps between them, so at most 1/8 is
/// wasted.
std::uint64_t size_class(std::uint64_t bytes) {
  const std::uint64_t wanted = std::max<std::uint64_t>(bytes + pool::header_bytes, 4096);
  const std::uint64_t step = std::max<std::uint64_t>(std::bit_floor(wanted) / 8, 256);
  return ceil_div(wanted, step) * step;
}

idle_blocks& idle_of_process() {
  static idle_blocks& all = base::lasting([] { return idle_blocks(); });
  return all;
}

[[noreturn]] void no_memory(std::uint64_t bytes) {
  const std::uint64_t most = physical_memory(), left = base::memory_of_groups().left;
  std::string why = "the system refuses them; `ulimit -a` lists what limits this process";
  if (bytes > left) why = "its control groups, which limit its memory, leave it " + std::to_string(left);
  if (bytes > most) why = "that is all it may use";
  throw error(errc::out_of_memory, "this needs " + std::to_string(bytes) +
                                       " bytes of the host's memory, of which this process may use " +
                                       std::to_string(most) + ": " + why + "; use a smaller array");
}

/// Whether the control groups have this much left. The kernel allocates more than they have and then kills the process
/// when it writes the memory. The check takes about 0.1 ms, as long as the kernel takes to find a few MiB.
bool is_left_in_groups(std::uint64_t bytes) {
  constexpr std::uint64_t worth_asking = 32 << 20;
  static const bool have_limits = base::memory_of_groups().most != base::group_memory().most;
  return bytes < worth_asking || !have_limits || bytes <= base::memory_of_groups().left;
}

}  // namespace

pool::pool() : idle_(idle_of_process()) {}

pool::~pool() {
  const std::lock_guard lock(idle_.mutex);
  for (auto at = idle_.blocks.lower_bound({this, 0}); at != idle_.blocks.end() && at->first.first == this;) {
    idle_.free(at);
    at = idle_.blocks.erase(at);
  }
}

void* pool::take(std::uint64_t bytes) {
  if (bytes > physical_memory()) no_memory(bytes);  // the kernel would allocate it and kill the process later
  const std::uint64_t size = size_class(bytes);
  {
    const std::lock_guard lock(idle_.mutex);
    const auto found = idle_.blocks.find({this, size});
    if (found != idle_.blocks.end() && found->second != nullptr) return idle_.forget(found);
  }
  const auto allocate = [size] { return is_left_in_groups(size) ? base::allocate(size) : nullptr; };
  void* block = allocate();
  if (block == nullptr) {
    idle_.free_all();
    block = allocate();
  }
  if (block == nullptr) no_memory(bytes);
  static_cast<header*>(block)->size = size;
  return block;
}

void pool::give(void* block) noexcept {
  const auto given = static_cast<header*>(block);
  const std::uint64_t size = given->size, most = physical_memory() / 8;
  if (size > most) return std::free(block);
  try {
    const std::lock_guard lock(idle_.mutex);
    const auto is_full = [&] { return idle_.bytes + size > most; };
    // Frees other pools' idle blocks first: a full pool that is no longer used must not block the others.
    for (auto at = idle_.blocks.begin(); at != idle_.blocks.end() && is_full(); ++at)
      while (at->first.first != this && at->second != nullptr && is_full()) std::free(idle_.forget(at));
    if (!is_full()) {
      header*& first = idle_.blocks[{this, size}];
      given->next = std::exchange(first, given);
      idle_.bytes += size;
      return;
    }
  } catch (const std::bad_alloc&) {
    // There is no memory to record the block: free it.
  }
  std::free(block);
}

}  // namespace tilewise::backend::cpu
