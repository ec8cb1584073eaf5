// SPDX-License-Identifier: Apache-2.0
// What scan on OpenCL must satisfy where the bit tests have few cases: carries between tiles, and between chunks.
#include "lab/verify/verify.hpp"
#include "opencl_fixture.hpp"
#include "registry/catalog.hpp"

namespace tilewise::tests {
namespace {

using ScanSweepAdd = opencl_device_test;
using ScanChunked = opencl_device_test;
using ScanLookback = opencl_device_test;

lab::verdict judge(const lab::verified_case& inputs, const registry::variant& v, std::string_view tuning,
                   backend::device& on) {
  return lab::verify(inputs, {&v, registry::parse_tuning(tuning, v.tuning), ""}, on.queue());
}

/// The pairs that the bit tests try have few plain sums of f32, which is all that sweep_add takes. Sums of small whole
/// numbers are exact in any order, so that a carry too few, or twice, shows.
TEST_F(ScanSweepAdd, AddsToEachTileWhatPrecedesIt) {
  const registry::variant& variant = registry::find_variant("scan/opencl:sweep_add");
  for (const std::uint64_t n : {1u, 16u, 17u, 255u, 257u, 70'001u}) {
    const registry::problem p{.what = &registry::find_algorithm("scan"), .type = dtype::f32, .shape = {n}};
    std::vector<float> x(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<float>(i % 7) - 2.0f;
    const auto bytes = std::as_bytes(std::span(x));
    const lab::verified_case inputs = lab::make_case(p, {{bytes.begin(), bytes.end()}});
    for (const char* tuning : {"group_size=8 carry=local", "group_size=8 carry=direct", "group_size=64 carry=local"}) {
      const lab::verdict found = judge(inputs, variant, tuning, *device);
      EXPECT_TRUE(found.ok && found.max_relative_error == 0) << tuning << " n=" << n;
    }
  }
}

// Of four chunks and more the last one completes a block of several, which its own carry does not have.
TEST_F(ScanChunked, ChunksEndWithTheBlocksThatTheyComplete) {
  const registry::variant& variant = registry::find_variant("scan/opencl:chunked");
  for (const std::uint64_t n : {(4u << 16), (8u << 16) + 1, (9u << 16) + 3 * 4096}) {
    const registry::problem p{.what = &registry::find_algorithm("scan"), .type = dtype::f32, .shape = {n}};
    const lab::verified_case inputs = lab::make_case(p, lab::data_class::wide, 1);
    EXPECT_TRUE(judge(inputs, variant, "chunk=64Ki group_size=64 items=16", *device).ok) << n;
  }
}

// Tiles of 512: the last of 32 and of 1024 completes nodes on further levels, which those behind it wait for.
TEST_F(ScanLookback, CarriesComeFromEveryLevelOfNodes) {
  const registry::variant& variant = registry::find_variant("scan/opencl:lookback");
  for (const std::uint64_t n : {32u * 512, 33u * 512 - 1, 1024u * 512, 1057u * 512 + 3}) {
    const registry::problem p{.what = &registry::find_algorithm("scan"), .type = dtype::f32, .shape = {n}};
    const lab::verified_case inputs = lab::make_case(p, lab::data_class::wide, 1);
    EXPECT_TRUE(judge(inputs, variant, "group_size=64 item_bytes=32", *device).ok) << n;
  }
}

}  // namespace
}  // namespace tilewise::tests
