// SPDX-License-Identifier: Apache-2.0
#include "tool/known_peers.hpp"

#if TILEWISE_WITH_PEERS
#include "peers/peers.hpp"
#include "registry/catalog.hpp"
#endif

namespace tilewise::cli {

bool add_known_peers() {
#if TILEWISE_WITH_PEERS
  static const bool added = [] {
    registry::add_peers(peers::peer_variants());
    return true;
  }();
  return added;
#else
  return false;
#endif
}

lab::plain_copies_of plain_copies_of_peers() {
  lab::plain_copies_of all;
#if TILEWISE_WITH_PEERS
  for (const peers::runtime_copies& of : peers::copies_of_runtimes()) all[of.backend] = {of.upload, of.download};
#endif
  return all;
}

}  // namespace tilewise::cli
