// SPDX-License-Identifier: Apache-2.0
// What scan/opencl:sweep_add adds to its tiles.
#include "lab/verify.hpp"
#include "registry/catalog.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace tilewise {
namespace {

/// The pairs that the bit tests try have few plain sums of f32, which is all that sweep_add takes. Sums of small whole
/// numbers are exact in any order, so that a carry too few, or twice, shows.
TEST(ScanSweepAdd, AddsToEachTileWhatPrecedesIt) {
  const auto all = registry::variants_of(registry::find_algorithm("scan"));
  const auto variant = std::find_if(all.begin(), all.end(), [](const auto* v) { return v->name == "sweep_add"; });
  if (variant == all.end()) GTEST_SKIP() << "this build has no OpenCL";
  std::shared_ptr<backend::device> device;
  try {
    device = backend::find_device("opencl:0", {});
  } catch (const error& none) {
    GTEST_SKIP() << none.what();
  }
  for (const std::uint64_t n : {1u, 16u, 17u, 255u, 257u, 70'001u}) {
    const registry::problem p{.what = &registry::find_algorithm("scan"), .type = dtype::f32, .shape = {n}};
    std::vector<float> x(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<float>(i % 7) - 2.0f;
    const auto bytes = std::as_bytes(std::span(x));
    const lab::verified_case inputs = lab::make_case(p, {{bytes.begin(), bytes.end()}});
    for (const char* tuning : {"group_size=8 carry=local", "group_size=8 carry=direct", "group_size=64 carry=local"}) {
      const registry::choice how{*variant, registry::parse_tuning(tuning, (*variant)->tuning), ""};
      const lab::verdict found = lab::verify(inputs, how, device->queue());
      EXPECT_TRUE(found.ok && found.max_relative_error == 0) << tuning << " n=" << n;
    }
  }
}

}  // namespace
}  // namespace tilewise
