// Every peer of this build, for registry::add_peers.
#pragma once

#include "registry/variant.hpp"

#include <vector>

namespace tilewise::peers {

std::vector<registry::variant> peer_variants();

}  // namespace tilewise::peers
