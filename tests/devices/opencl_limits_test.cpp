// SPDX-License-Identifier: Apache-2.0
// Devices with smaller limits than PoCL's. For this file's tests CMakeLists.txt uses a driver that reports and enforces
// limits of groups and of local memory, and has no doubles.
#include "backend/opencl/queue.hpp"
#include "lab/verify/verify.hpp"
#include "opencl_fixture.hpp"

#include <algorithm>
#include <cstdlib>
#include <ranges>

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

/// A device that only reports its limits.
class told_device final : public backend::device {
 public:
  using device::device;

 protected:
  std::unique_ptr<backend::queue> make_queue() override { throw error(errc::unsupported, "it computes nothing"); }
};

struct limits {
  std::uint64_t items, local_bytes;

  std::string text() const { return std::to_string(items) + " " + std::to_string(local_bytes); }
};

/// The smallest limits with which the variant accepts the problem; `told` is known to be enough.
limits least_of(const registry::variant& v, const registry::problem& p, const registry::tuning& t,
                const device_info& told) {
  limits least{told.max_group_size, told.local_memory};
  for (std::uint64_t limits::*const one : {&limits::items, &limits::local_bytes}) {
    const auto is_too_little = [&](std::uint64_t value) {
      limits tried = least;
      tried.*one = value;
      device_info facts = told;
      facts.max_group_size = tried.items, facts.local_memory = tried.local_bytes;
      return !registry::unsupported_reason(v, p, told_device(facts), t).empty();
    };
    least.*one = *std::ranges::partition_point(std::views::iota(std::uint64_t{1}, least.*one), is_too_little);
  }
  return least;
}

/// The default tuning, and all tunings whose numbers are each the first or the last of their axis.
std::vector<registry::tuning> default_and_corners(const registry::variant& v) {
  std::vector<registry::tuning> all(1 + (std::size_t{1} << v.tuning.size()), registry::default_tuning(v.tuning));
  for (std::size_t corner = 0; corner + 1 < all.size(); ++corner)
    for (std::size_t i = 0; i < v.tuning.size(); ++i)
      all[corner + 1].value[i] = (corner >> i & 1) == 0 ? v.tuning[i].values.front() : v.tuning[i].values.back();
  return all;
}

/// What a variant accepts has the definition's bits, even on a device with no more than it asks for. What it does not
/// accept is refused before anything is launched.
TEST_F(OpenclLimits, WhatIsTakenIsWithinThem) {
  if (std::getenv("FAKE_OPENCL_LIMITS") == nullptr) GTEST_SKIP() << "a device with all that PoCL's has";
  const cl_command_queue commands = static_cast<opencl::queue&>(device->queue()).commands();
  unsigned taken = 0, refused = 0;
  for (const registry::variant& v : registry::variants()) {
    if (v.backend != "opencl" || v.peer) continue;
    const registry::algorithm& what = registry::find_algorithm(v.algorithm);
    for (const dtype type : {dtype::f32, dtype::f64, dtype::i64}) {
      if (std::find(v.types.begin(), v.types.end(), type) == v.types.end()) continue;
      const auto all = lab::problems_at(what, type, what.edge_shapes[what.edge_shapes.size() / 2], 1);
      const registry::problem& p = all.front();
      for (const registry::tuning& t : default_and_corners(v)) {
        const std::string why = registry::unsupported_reason(v, p, *device, t);
        SCOPED_TRACE(v.id() + " of " + to_string(p) + " " + to_string(t, v.tuning));
        if (type == dtype::f64) EXPECT_NE(why, "");
        ++(why.empty() ? taken : refused);
        if (!why.empty()) continue;
        const lab::verified_case c = lab::make_case(p, lab::data_class::uniform, 2);
        const limits told{device->info().max_group_size, device->info().local_memory};
        for (const limits& has : {told, least_of(v, p, t, device->info())}) {
          setenv("FAKE_OPENCL_LIMITS", has.text().c_str(), 1);
          try {
            const tilewise::device on = from_opencl_queue(commands);
            EXPECT_TRUE(lab::verify(c, {.variant = &v, .tuning = t}, on.implementation().queue()).ok) << has.text();
          } catch (const error& e) {
            ADD_FAILURE() << has.text() << ": " << e.what();
          }
        }
      }
    }
  }
  EXPECT_GT(taken, 20u);
  EXPECT_GT(refused, 20u);
}

}  // namespace
}  // namespace tilewise::tests
