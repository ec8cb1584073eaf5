#include "lab/flush.hpp"

#include "lab/environment.hpp"

#include <vector>

namespace tilewise::lab {

std::uint64_t flush_bytes(const device_info& info) {
  constexpr std::uint64_t unknown_cache = std::uint64_t{64} << 20;
  const std::uint64_t cache = info.backend == "cpu" ? last_level_cache_bytes() : info.cache;
  return 2 * (cache != 0 ? cache : unknown_cache);
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
