// SPDX-License-Identifier: Apache-2.0
// Tests peers where tiles, rows and vectors end. `bench` verifies each peer before timing it, but only at the sizes
// that it measures.
#include "peers/peers.hpp"
#include "cover_pairs.hpp"
#include "helpers.hpp"
#include "lab/bench/group.hpp"
#include "lab/verify/verify.hpp"
#include "peers/variants.hpp"
#include "registry/catalog.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>

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

/// The last device that can compute it, as in `bench`; null if none can.
backend::device* device_for(const registry::variant& peer, const registry::problem& p, const device_list& all) {
  for (auto on = all.rbegin(); on != all.rend(); ++on)
    if (registry::unsupported_reason(peer, p, **on, {}).empty()) return on->get();
  return nullptr;
}

struct peer_case {
  registry::problem problem;
  backend::device* on;
};

/// The problems that the peer can compute at the shape.
std::vector<peer_case> cases_at(const registry::variant& peer, dtype type, const registry::extents& shape,
                                const device_list& devices) {
  std::vector<peer_case> cases;
  for (const registry::problem& p : lab::problems_at(registry::find_algorithm(peer.algorithm), type, shape, 1))
    if (backend::device* const on = device_for(peer, p, devices); on != nullptr) cases.push_back({p, on});
  return cases;
}

/// Cases that contain every pair of a type, an edge shape and settings that the peer can compute; or all cases.
std::vector<peer_case> cases_of(const registry::variant& peer, const device_list& devices) {
  const auto shapes = registry::find_algorithm(peer.algorithm).edge_shapes;
  std::vector<std::vector<peer_case>> places;
  std::size_t most = 1;
  for (const dtype type : peer.types)
    for (const registry::extents& shape : shapes) {
      places.push_back(cases_at(peer, type, shape, devices));
      most = std::max(most, places.back().size());
    }
  std::vector<peer_case> chosen;
  if (test_cover() == cover::all) {
    for (const auto& place : places) chosen.insert(chosen.end(), place.begin(), place.end());
    return chosen;
  }
  for (const auto& row : cover_pairs({static_cast<unsigned>(peer.types.size()), static_cast<unsigned>(shapes.size()),
                                      static_cast<unsigned>(most)}))
    if (const auto& place = places[row[0] * shapes.size() + row[1]]; !place.empty())
      chosen.push_back(place[row[2] % place.size()]);
  return chosen;
}

TEST(Peers, AreRightAtTheEdgeShapes) {
  const device_list devices = all_devices();
  std::map<std::string, lab::verified_case> known;  // peers of one algorithm are compared with the same results
  for (const registry::variant& peer : peers::peer_variants())
    for (const auto& [p, on] : cases_of(peer, devices)) {
      if (!known.empty() && known.begin()->second.problem.what != p.what) known.clear();
      if (!known.contains(to_string(p))) known.emplace(to_string(p), lab::make_case(p, lab::data_for(p), 1));
      const lab::verified_case& c = known.at(to_string(p));
      EXPECT_TRUE(lab::verify(c, {&peer, {}, ""}, on->queue()).ok)
          << peer.id() << " on " << on->info().name << ": " << to_string(p);
    }
}

/// A limited peer would seem to be beaten.
TEST(Peers, WhatTheEnvironmentLimitsIsNotMeasured) {
  EXPECT_EQ(peers::limited_by({"TILEWISE_TEST_LIMIT"}), "");
  ::setenv("TILEWISE_TEST_LIMIT", "1", 1);
  EXPECT_EQ(peers::limited_by({"TILEWISE_NO_LIMIT", "TILEWISE_TEST_LIMIT"}),
            "TILEWISE_TEST_LIMIT=1 limits it; unset that to measure it");
  ::unsetenv("TILEWISE_TEST_LIMIT");
}

}  // namespace
}  // namespace tilewise::tests
