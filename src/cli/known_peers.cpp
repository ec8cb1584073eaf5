#include "cli/known_peers.hpp"

#if TILEWISE_WITH_PEERS
#include "peers/peers.hpp"
#include "registry/catalog.hpp"
#endif

namespace tilewise::cli {

void add_known_peers() {
#if TILEWISE_WITH_PEERS
  static const bool added = [] {
    registry::add_peers(peers::peer_variants());
    return true;
  }();
  (void)added;
#endif
}

}  // namespace tilewise::cli
