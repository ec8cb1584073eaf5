// SPDX-License-Identifier: Apache-2.0
// Devices that have less than PoCL's: CMakeLists.txt has this file's tests run on a driver that tells, and keeps,
// limits of groups and of local memory, and has no doubles.
#include "backend/opencl/opencl_queue.hpp"
#include "lab/verify.hpp"
#include "opencl_fixture.hpp"

#include <algorithm>
#include <cstdlib>

namespace tilewise::tests {
namespace {

using OpenclLimits = opencl_device_test;

TEST(OpenclLimit, IsTheLastThatFits) {
  const device_info small{.name = "opencl:7", .local_memory = 1000, .max_group_size = 64}, unknown{.name = "opencl:7"};
  EXPECT_EQ(opencl::too_large(small, 64, 1000), "");
  EXPECT_EQ(opencl::too_large(small, 65, 0), "opencl:7 takes groups of at most 64 items, not 65");
  EXPECT_EQ(opencl::too_large(small, 1, 1001), "a group needs 1001 bytes of local memory and opencl:7 has 1000");
  EXPECT_EQ(opencl::too_large(small, 64, opencl::local_room{999}), "");
  EXPECT_NE(opencl::too_large(small, 64, opencl::local_room{1000}), "") << "the driver takes some of it";
  EXPECT_NE(opencl::too_large(small, 64, opencl::local_room{1001}), "");
  EXPECT_NE(opencl::too_large(small, 65, opencl::local_room{0}), "");
  EXPECT_EQ(opencl::too_large(unknown, 4096, 1 << 20), "");
  EXPECT_EQ(opencl::too_large(unknown, 4096, opencl::local_room{1 << 20}), "");
}

TEST(OpenclLimit, OfPlatformsOfWhichNothingIsKnown) {
  EXPECT_EQ(opencl::lacks_packets({.platform = "NVIDIA CUDA"}), "");
  EXPECT_EQ(opencl::lacks_packets({.platform = "Portable Computing Language", .is_cpu = true}), "");
  EXPECT_NE(opencl::lacks_packets({.platform = "Another"}).find("Another"), std::string::npos);
}

/// What a variant takes has the definition's bits; what it does not take is said before anything is launched.
TEST_F(OpenclLimits, WhatIsTakenIsWithinThem) {
  if (std::getenv("FAKE_OPENCL_LIMITS") == nullptr) GTEST_SKIP() << "a device with all that PoCL's has";
  unsigned taken = 0, refused = 0;
  for (const registry::variant& v : registry::variants()) {
    if (v.backend != "opencl" || v.peer) continue;
    const registry::algorithm& what = registry::find_algorithm(v.algorithm);
    for (const dtype type : {dtype::f32, dtype::f64, dtype::i64}) {
      if (std::find(v.types.begin(), v.types.end(), type) == v.types.end()) continue;
      const auto all = lab::problems_at(what, type, what.edge_shapes[what.edge_shapes.size() / 2], 1);
      const registry::problem& p = all.front();
      std::vector<registry::tuning> tunings(3, registry::default_tuning(v.tuning));
      for (std::size_t i = 0; i < v.tuning.size(); ++i) {
        tunings[1].value[i] = v.tuning[i].values.front();
        tunings[2].value[i] = v.tuning[i].values.back();
      }
      for (const registry::tuning& t : tunings) {
        const std::string why = registry::unsupported_reason(v, p, *device, t);
        SCOPED_TRACE(v.id() + " of " + to_string(p) + " " + to_string(t, v.tuning));
        if (type == dtype::f64) EXPECT_NE(why, "");
        ++(why.empty() ? taken : refused);
        if (!why.empty()) continue;
        try {
          const lab::verified_case c = lab::make_case(p, lab::data_class::uniform, 2);
          EXPECT_TRUE(lab::verify(c, {.variant = &v, .tuning = t}, device->queue()).ok);
        } catch (const error& e) {
          ADD_FAILURE() << e.what();
        }
      }
    }
  }
  EXPECT_GT(taken, 20u);
  EXPECT_GT(refused, 20u);
}

}  // namespace
}  // namespace tilewise::tests
