// SPDX-License-Identifier: Apache-2.0
#include "base/huge_pages.hpp"

#include "base/ceil_div.hpp"

#include <cstdlib>
#include <limits>

#include <sys/mman.h>

namespace tilewise::base {

std::byte* allocate(std::uint64_t bytes) noexcept {
  const std::uint64_t unit = bytes < huge_page ? 256 : huge_page;
  if (bytes > std::numeric_limits<std::uint64_t>::max() - unit) return nullptr;
  const std::uint64_t rounded = ceil_div(bytes, unit) * unit;
  void* const memory = std::aligned_alloc(unit, rounded);
  if (memory != nullptr && unit == huge_page) madvise(memory, rounded, MADV_HUGEPAGE);  // others have small ones
  return static_cast<std::byte*>(memory);
}

}  // namespace tilewise::base
