// SPDX-License-Identifier: Apache-2.0
// Every variant of groups gives the definition's bits wherever the ranks' parts of its operands begin and end.
#include "helpers.hpp"
#include "lab/plan/problems.hpp"
#include "lab/verify/verify.hpp"
#include "scattered_operand.hpp"

#include <tilewise/tilewise.hpp>

#include <array>
#include <random>

#include <gtest/gtest.h>

namespace tilewise::tests {
namespace {

registry::problem any_problem(const registry::algorithm& what, std::mt19937_64& random) {
  const registry::extents shape = what.edge_shapes[random() % what.edge_shapes.size()];
  const auto all = lab::problems_at(what, what.types[random() % what.types.size()], shape, random());
  return all[random() % all.size()];
}

registry::tuning any_tuning(const registry::variant& v, std::mt19937_64& random) {
  registry::tuning t = registry::default_tuning(v.tuning);
  for (std::size_t i = 0; i < v.tuning.size(); ++i)
    t.value[i] = v.tuning[i].values[random() % v.tuning[i].values.size()];
  return t;
}

/// Groups of CPUs, and groups whose ranks cannot read each other's memory. The latter have fewer cases, since PoCL
/// compiles each program first.
std::vector<std::pair<std::string, int>> names_and_cases() {
  const int cases = test_cover() == cover::few ? 10 : test_cover() == cover::all ? 400 : 20;
  std::vector<std::pair<std::string, int>> all{
      {"2*cpu:serial", cases}, {"3*cpu:serial", cases}, {"7*cpu:serial", cases}};
  for (const device& on : devices())
    if (on.name() == "opencl:0") all.insert(all.end(), {{"3*opencl:0", cases / 5}, {"opencl:0+cpu:serial", cases / 5}});
  return all;
}

TEST(Groups, EveryVariantHasTheDefinitionsBitsWhateverTheBorders) {
  constexpr std::uint64_t most_bytes = 1 << 18;
  for (const registry::variant& v : registry::variants()) {
    if (v.backend != "group") continue;
    std::mt19937_64 random(3);
    for (const auto& [name, cases] : names_and_cases()) {
      const auto on = backend::find_device(name, {});
      for (int i = 0; i < cases; ++i) {
        const registry::problem p = any_problem(registry::find_algorithm(v.algorithm), random);
        const registry::tuning t = any_tuning(v, random);
        const auto data = lab::all_data_classes[random() % lab::all_data_classes.size()];
        if (registry::bytes_of_operands(p) > most_bytes || !registry::unsupported_reason(v, p, *on, t).empty())
          continue;
        const lab::verified_case c = lab::make_case(p, data, random());
        ASSERT_EQ(run_scattered(v, c, t, backend::group::enter(on->queue()), random), "")
            << v.id() << " on " << name << ", case " << i << ": " << to_string(p) << " " << to_string(t, v.tuning);
      }
    }
  }
}

/// A block that was freed is the next one of its size.
TEST(Groups, WhatOneRankHasNoMemoryForNoOtherKeepsAPartOf) {
  const device group = open("3*cpu:serial");
  backend::group::queue& queue = backend::group::enter(group.implementation().queue());
  constexpr std::uint64_t some = 1 << 20, beyond_all = std::uint64_t{1} << 60;
  const auto first_part = [&](std::uint64_t of_second, std::uint64_t of_third) {
    const backend::memory whole = queue.allocate_parts({0, some, some + of_second, some + of_second + of_third});
    const void* const place = backend::group::array_of(whole).part[0].base;
    queue.release(whole);
    return place;
  };
  const void* const before = first_part(some, some);
  EXPECT_EQ(code_of([&] { first_part(beyond_all, some); }), errc::out_of_memory);
  EXPECT_EQ(first_part(some, some), before);
  EXPECT_EQ(code_of([&] { first_part(some, beyond_all); }), errc::out_of_memory);
  EXPECT_EQ(first_part(some, some), before);
}

/// A column that all ranks would share if its elements were contiguous in input and output.
TEST(Groups, AColumnWhoseElementsLieApartIsOneLine) {
  constexpr std::uint64_t rows = 50;
  const auto results_on = [](const char* name, std::uint64_t from, std::uint64_t to) {
    const device on = open(name);
    const matrix_layout of(rows, 1, from), of_out(rows, 1, to);
    const array<float> in = on.upload(wide_floats(rows * from));
    array<float> scanned = on.upload(std::vector<float>(rows * to, 7.0f)),
                 sorted = on.upload(std::vector<float>(rows * to, 7.0f));
    inclusive_scan(along(in, of, axis::columns), along(scanned, of_out, axis::columns));
    tilewise::sort(along(in, of, axis::columns), along(sorted, of_out, axis::columns));
    return std::array{scanned.download(), sorted.download(), reduce(along(in, of, axis::columns)).download()};
  };
  for (const auto& [from, to] : {std::pair{1, 3}, std::pair{3, 1}, std::pair{3, 3}})
    for (const char* name : {"2*cpu:serial", "5*cpu:serial"})
      EXPECT_EQ(results_on(name, from, to), results_on("cpu:serial", from, to)) << name << ", " << from << " " << to;
}

TEST(Groups, ResultsLieOnTheRanksOfTheirInput) {
  const device group = open("3*cpu:serial");
  const std::vector<float> x(64, 0.25f);
  const std::array<std::span<const float>, 3> parts{std::span(x).first(5), std::span(x).first(0),
                                                    std::span(x).last(59)};
  const array<float> in = upload_parts<float>(group, parts);
  const std::vector<std::uint64_t> border{0, 5, 5, 64};
  ASSERT_EQ(borders_of(in), border);
  partial<float> carry;
  EXPECT_EQ(borders_of(allocate_like(in)), border);
  EXPECT_EQ(borders_of(inclusive_scan(in)), border);
  EXPECT_EQ(borders_of(exclusive_scan(in, {.init = 1.0f})), border);
  EXPECT_EQ(borders_of(inclusive_scan(in, {.carry = &carry})), border);
  EXPECT_EQ(borders_of(sorted(in)), border);
  EXPECT_EQ(borders_of(diffuse(in, {.rows = 8, .columns = 8})), border);
}

}  // namespace
}  // namespace tilewise::tests
