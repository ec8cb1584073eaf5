#include "peers/peers.hpp"

namespace tilewise::peers {

std::vector<registry::variant> peer_variants() { return {}; }

}  // namespace tilewise::peers
