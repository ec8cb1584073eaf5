// Cold samples: what the caches held is pushed out by a copy larger than they are.
#pragma once

#include "backend/backend.hpp"

namespace tilewise::lab {

/// Twice the last-level cache; where the device does not tell it, twice 64 MiB, which is above most.
std::uint64_t flush_bytes(const device_info& info);

class cache_flusher {
 public:
  explicit cache_flusher(backend::queue& queue);
  void flush();

 private:
  backend::queue& queue_;
  std::uint64_t bytes_;
  backend::buffer from_, to_;
};

}  // namespace tilewise::lab
