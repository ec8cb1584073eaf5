#include "io/host_block.hpp"

#include "base/ceil_div.hpp"

#include <limits>
#include <new>

#include <sys/mman.h>

namespace tilewise::io {

namespace {

constexpr std::uint64_t huge_page = 2 << 20;
constexpr std::uint64_t cache_line = 64;

}  // namespace

host_block::host_block(std::uint64_t bytes) : bytes_(bytes) {
  const std::uint64_t unit = bytes < huge_page ? cache_line : huge_page;
  if (bytes > std::numeric_limits<std::uint64_t>::max() - unit) throw std::bad_alloc();
  const std::uint64_t rounded = ceil_div(bytes, unit) * unit;
  if (rounded != 0) memory_.reset(static_cast<std::byte*>(std::aligned_alloc(unit, rounded)));
  if (memory_ == nullptr && bytes != 0) throw std::bad_alloc();
  if (unit == huge_page) madvise(data(), rounded, MADV_HUGEPAGE);  // a system without them has small ones
}

}  // namespace tilewise::io
