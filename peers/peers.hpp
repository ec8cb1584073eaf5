// SPDX-License-Identifier: Apache-2.0
// Every peer of this build, for registry::add_peers.
#pragma once

#include "backend/backend.hpp"
#include "registry/variant.hpp"

#include <vector>

namespace tilewise::peers {

std::vector<registry::variant> peer_variants();

/// The copies of a device's runtime, as a program gets them that does nothing about transfers. They wait.
struct runtime_copies {
  const char* backend;
  void (*upload)(backend::queue& on, backend::memory to, const void* from, std::uint64_t bytes);
  void (*download)(backend::queue& on, void* to, backend::memory from, std::uint64_t bytes);
};
std::vector<runtime_copies> copies_of_runtimes();

}  // namespace tilewise::peers
