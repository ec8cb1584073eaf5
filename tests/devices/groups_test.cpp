// SPDX-License-Identifier: Apache-2.0
// Groups as users see them: names, threads, parts, and the message when a rank fails.
#include "backend/group/device.hpp"
#include "cache_fixture.hpp"
#include "call/operands.hpp"
#include "divide/ranks.hpp"
#include "helpers.hpp"
#include "planted_variant.hpp"

#include <tilewise/tilewise.hpp>

#include <algorithm>
#include <atomic>
#include <random>

#include <gtest/gtest.h>

namespace tilewise::tests {
namespace {

bool has_opencl() {
  const auto all = devices();
  return std::any_of(all.begin(), all.end(), [](const device& one) { return one.name() == "opencl:0"; });
}

/// Groups of CPUs, and groups with a device whose memory the others cannot read, if there is one.
std::vector<std::string> names_of_groups() {
  std::vector<std::string> all{"1*cpu:serial", "3*cpu:serial", "cpu:threads+2*cpu:serial"};
  if (has_opencl()) all.insert(all.end(), {"2*opencl:0", "opencl:0+cpu:serial", "cpu:serial+opencl:0"});
  return all;
}

TEST(GroupNames, ThoseOfNoGroupAreRefused) {
  for (const char* name :
       {"cpu:serial+", "+cpu:serial", "+", "0*cpu:serial", "1025*cpu:serial", "x*cpu:serial", "-1*cpu:serial",
        "2x*cpu:serial", "2*", "*", "cpu:*", "2*2*cpu:serial", "mpi:2*cpu:serial", "cpu:serial+mpi"})
    EXPECT_EQ(code_of([&] { open(name); }), errc::invalid_argument) << name;
  EXPECT_EQ(code_of([] { open("nothing:*"); }), errc::device_lost);
  EXPECT_EQ(code_of([] { open("2*nothing"); }), errc::device_lost);
  const environment_variable of_auto("TILEWISE_DEVICE", "2*cpu:serial");
  EXPECT_EQ(code_of([] { open("cpu:serial+auto"); }), errc::invalid_argument) << "a group within one";
  EXPECT_EQ(ranks_of(open("auto")).count, 2u);
  const environment_variable of_itself("TILEWISE_DEVICE", "2*auto");
  EXPECT_EQ(code_of([] { open("auto"); }), errc::invalid_argument);
}

/// All members together have these threads; each has a whole number, at least one.
TEST(GroupNames, CpusShareTheThreads) {
  const auto threads_of_members = [](const char* name, unsigned threads) {
    const device group = open(name, {.threads = threads});
    std::vector<std::string> all;
    for (const auto& one : backend::group::members_of(group.implementation())) all.push_back(one->info().platform);
    return all;
  };
  for (const std::string& told : threads_of_members("3*cpu:threads", 6))
    EXPECT_NE(told.find(", 2 threads,"), told.npos) << told;
  for (const std::string& told : threads_of_members("2*cpu:threads", 1))
    EXPECT_NE(told.find(", 1 thread,"), told.npos) << told;
}

TEST(GroupParts, WhatIsNoPartForEachRankIsRefused) {
  const std::vector<float> x(8, 1.0f);
  const std::span<const float> some(x), null(static_cast<const float*>(nullptr), 3), none;
  const device group = open("2*cpu:serial"), one = open("cpu:serial");
  const auto code = [&](const device& on, std::vector<std::span<const float>> parts) {
    return code_of([&] { (void)upload_parts<float>(on, parts); });
  };
  EXPECT_EQ(code(group, {some}), errc::invalid_argument);
  EXPECT_EQ(code(group, {some, none, none}), errc::invalid_argument);
  EXPECT_EQ(code(group, {some, null}), errc::invalid_argument);
  EXPECT_EQ(code(one, {some}), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { (void)ranks_of(one); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { (void)borders_of(one.upload(some)); }), errc::invalid_argument);
  EXPECT_EQ(code_of([&] { (void)download_parts(one.upload(some)); }), errc::invalid_argument);
  EXPECT_EQ(download_parts(upload_parts<float>(group, std::vector{none, some})),
            (std::vector<std::vector<float>>{{}, x}));
}

/// If every rank can work on host memory. Otherwise a message says what to do.
TEST(GroupParts, HostMemoryIsAnArrayWhereAllMembersAreCpus) {
  for (const std::string& name : names_of_groups()) {
    const device group = open(name);
    std::vector<float> x = wide_floats(1000);
    const std::vector<float> expected = inclusive_scan(x), before = x;
    EXPECT_EQ(inclusive_scan(x, {.device = group}), expected) << name;
    if (name.find("opencl") != name.npos) {
      EXPECT_EQ(code_of([&] { (void)view<float>(group, x.data(), x.size()); }), errc::unsupported) << name;
      EXPECT_EQ(x, before);
      continue;
    }
    array<float> there = view<float>(group, x.data(), x.size());
    inclusive_scan(there, there);
    group.finish();
    expect_bits(x, expected, name);
  }
}

TEST(GroupParts, CopiesGoFromAnyBordersToAny) {
  constexpr std::uint64_t n = 1000;
  std::mt19937_64 random(7);
  const auto borders = [&](unsigned ranks) {
    std::vector<std::uint64_t> all{0, n * sizeof(float)};
    while (all.size() <= ranks) all.push_back(random() % (n + 1) * sizeof(float));
    std::sort(all.begin(), all.end());
    return all;
  };
  const std::vector<float> x = wide_floats(n);
  for (const std::string& name : names_of_groups()) {
    const device group = open(name);
    auto& queue = backend::group::enter(group.implementation().queue());
    for (int i = 0; i < 10; ++i) {
      const backend::memory from = queue.allocate_parts(borders(queue.ranks())),
                            to = queue.allocate_parts(borders(queue.ranks()));
      std::vector<float> got(n);
      queue.upload(from, x.data(), n * sizeof(float));
      queue.copy(to, from, n * sizeof(float));
      queue.download(got.data(), to, n * sizeof(float));
      expect_bits(got, x, name);
      queue.release(from);
      queue.release(to);
    }
  }
}

/// The first failure is reported with its own code, although others fail after it because they waited for it.
TEST(GroupFailures, TheFirstIsToldWithItsRank) {
  const device group = open("3*cpu:serial");
  auto& queue = backend::group::enter(group.implementation().queue());
  for (unsigned failing = 0; failing < 3; ++failing) {
    const std::string told = message_of(errc::unsupported, [&] {
      queue.on_each_rank([&](const backend::group::rank& r) {
        if (r.index() == failing) throw error(errc::unsupported, "planted");
        try {
          r.all_gather(r.index());
        } catch (...) {
          throw error(errc::device_lost, "and that was that");
        }
      });
    });
    EXPECT_EQ(told, "rank " + std::to_string(failing) + " on cpu:serial: planted");
  }
}

/// A group computes what all its members can, each with the variant that the group asks for, even if only one rank
/// works.
TEST(GroupMembers, ComputeByTheVariantThatIsWanted) {
  static std::atomic<int> calls = 0;
  registry::variant short_ones = planted_peer(
      "reduce", "of_members",
      [](const registry::problem&, const registry::bindings&, const registry::tuning&, backend::queue&) { ++calls; });
  short_ones.unsupported = [](const registry::problem& p, const backend::device&, const registry::tuning&) {
    return std::string(p.n() > 100 ? "it stops at 100 elements" : "");
  };
  registry::add_peers({&short_ones, 1});
  const registry::preferences wanted{.variant = "of_members"};
  const auto sum_of = [](std::uint64_t n) {
    return registry::problem{.what = &registry::find_algorithm("reduce"), .type = dtype::f32, .shape = {n}};
  };
  for (const auto& [name, called] : {std::pair{"1*cpu:serial", 1}, std::pair{"3*cpu:serial", 0}}) {
    const auto on = backend::find_device(name, {});
    const auto why_not = [&](std::uint64_t n) { return divide::unsupported_by_members(sum_of(n), *on, wanted); };
    EXPECT_EQ(why_not(100), "") << name;
    EXPECT_NE(why_not(101).find("it stops at 100"), std::string::npos) << why_not(101);
    const call::operands all(sum_of(100), on->queue());
    calls = 0;
    std::atomic<bool> shared = false;
    divide::run_on_ranks(
        on->queue(), sum_of(100), all.where(), [&](const divide::rank&) { shared = true; }, wanted);
    EXPECT_EQ(calls, called) << name;
    EXPECT_EQ(shared, called == 0) << name;
  }
}

}  // namespace
}  // namespace tilewise::tests
