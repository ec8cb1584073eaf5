// SPDX-License-Identifier: Apache-2.0
#include "lab/time/flush.hpp"

#include <vector>

namespace tilewise::lab {

std::uint64_t flush_bytes(const device_info& info) {
  constexpr std::uint64_t unknown_cache = std::uint64_t{64} << 20;
  return 2 * (info.cache != 0 ? info.cache : unknown_cache);
}

cache_flusher::cache_flusher(backend::queue& queue)
    : queue_(queue), bytes_(flush_bytes(queue.device().info())), from_(queue, bytes_), to_(queue, bytes_) {
  const std::vector<std::byte> pages(bytes_, std::byte{1});  // untouched pages would all be one page of zeros
  queue_.upload(from_, pages.data(), bytes_);
}

void cache_flusher::flush() {
  queue_.copy(to_, from_, bytes_);
  queue_.finish();
}

}  // namespace tilewise::lab
