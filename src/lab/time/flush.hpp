// SPDX-License-Identifier: Apache-2.0
// Cold samples: a copy larger than the caches evicts what they held.
#pragma once

#include "backend/backend.hpp"

namespace tilewise::lab {

/// Twice the last-level cache; if the device does not report it, twice 64 MiB, which exceeds most.
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
