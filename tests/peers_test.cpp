// Peers where tiles, rows and vectors end: `bench` verifies each before timing it, but only at the sizes that it
// measures.
#include "peers/peers.hpp"
#include "lab/group.hpp"
#include "lab/verify.hpp"
#include "registry/catalog.hpp"

#include <gtest/gtest.h>

namespace tilewise::tests {
namespace {

using device_list = std::vector<std::shared_ptr<backend::device>>;

device_list all_devices() {
  device_list all;
  std::string why_none;
  for (const backend::runtime& r : backend::runtimes())
    for (auto& on : r.devices(why_none)) all.push_back(std::move(on));
  return all;
}

/// The last that can compute it, as in `bench`; null if none can.
backend::device* device_for(const registry::variant& peer, const registry::problem& p, const device_list& all) {
  for (auto on = all.rbegin(); on != all.rend(); ++on)
    if (registry::unsupported_reason(peer, p, **on, {}).empty()) return on->get();
  return nullptr;
}

TEST(Peers, AreRightAtTheEdgeShapes) {
  const device_list devices = all_devices();
  for (const registry::variant& peer : peers::peer_variants()) {
    const registry::algorithm& what = registry::find_algorithm(peer.algorithm);
    for (const dtype type : peer.types)
      for (const registry::extents& shape : what.edge_shapes)
        for (const registry::problem& p : lab::problems_at(what, type, shape, 1))
          if (backend::device* const on = device_for(peer, p, devices); on != nullptr) {
            const lab::verified_case c = lab::make_case(p, lab::data_for(p), 1);
            EXPECT_TRUE(lab::verify(c, {&peer, {}, ""}, on->queue()).ok)
                << peer.id() << " on " << on->info().name << ": " << to_string(p);
          }
  }
}

}  // namespace
}  // namespace tilewise::tests
