// SPDX-License-Identifier: Apache-2.0
// All peers of this build, for registry::add_peers.
#pragma once

#include "backend/backend.hpp"
#include "registry/variant.hpp"

#include <vector>

namespace tilewise::peers {

std::vector<registry::variant> peer_variants();

/// The runtime's own copies for a device, as a simple program would call them. They wait until the copy is done.
struct runtime_copies {
  const char* backend;
  void (*upload)(backend::queue& on, backend::memory to, const void* from, std::uint64_t bytes);
  void (*download)(backend::queue& on, void* to, backend::memory from, std::uint64_t bytes);
};
std::vector<runtime_copies> copies_of_runtimes();

}  // namespace tilewise::peers
