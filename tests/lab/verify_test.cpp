// SPDX-License-Identifier: Apache-2.0
// What is reported when a result is compared with the definition's: where it differs, by how much, its digest, and what
// the record contains.
#include "lab/bench/describe.hpp"
#include "lab/verify/checks.hpp"
#include "planted_variant.hpp"
#include "registry/catalog.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace tilewise::lab {
namespace {

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

registry::variant claiming(registry::claim order, double bound = 0) {
  registry::variant v = tests::planted_variant("scan", "made_up", nullptr);
  v.order = order, v.bound = bound;
  return v;
}

/// Running sums of 1, 1, 2, 4: 1, 2, 4, 8.
verified_case sums() {
  const registry::problem p{.what = &registry::find_algorithm("scan"), .type = dtype::f32, .shape = {4}};
  return make_case(p, {bytes_of<float>({1, 1, 2, 4})});
}

verdict of_sums(const registry::variant& v, const std::vector<float>& got) {
  const call::host_operands outputs{bytes_of(got)};
  return compare(sums(), v, outputs);
}

TEST(LabVerify, TheFirstDifferenceTheirNumberAndTheLargestErrorAreTold) {
  const verified_case c = sums();
  for (const bool own : {false, true}) {
    const registry::claim order = own ? registry::claim::own : registry::claim::tilewise;
    const std::vector<float> got{1, 2.5F, 4, 10};
    const verdict v = of_sums(claiming(order, 1e-3), got);
    EXPECT_FALSE(v.ok);
    EXPECT_EQ(v.mismatches, 2u);
    EXPECT_EQ(v.max_relative_error, 0.25) << "2 of 8";
    EXPECT_EQ(v.digest, digest_of(bytes_of(got)));
    ASSERT_TRUE(v.first.has_value());
    const record::verification told = verification_of(c, order, v);
    EXPECT_EQ(told.ok, false);
    EXPECT_EQ(told.method, own ? "tolerance" : "digest");
    EXPECT_EQ(told.digest, v.digest);
    EXPECT_EQ(told.reference, "scan/serial");
    EXPECT_EQ(told.reference_digest, digest_of(c.expected[0]));
    EXPECT_EQ(told.mismatches, 2u);
    EXPECT_EQ(told.max_relative_error, 0.25);
    ASSERT_TRUE(told.first_mismatch.has_value());
    EXPECT_EQ(told.first_mismatch->index, 1u);
    EXPECT_EQ(told.first_mismatch->expected, "2 (0x40000000)");
    EXPECT_EQ(told.first_mismatch->got, "2.5 (0x40200000)");
  }
}

TEST(LabVerify, WhatHasTheOrderIsHeldAgainstItsBitsAndAnotherAgainstValues) {
  constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const registry::problem p{.what = &registry::find_algorithm("scan"), .type = dtype::f32, .shape = {1}};
  const struct {
    float expected, got;
    bool has_bits, is_near;
  } cases[] = {{1, 1, true, true},
               {0, -0.0F, false, true},
               {1, 1.0001F, false, true},
               {1, 1.01F, false, false},
               {1, nan, false, false},
               {nan, 1, false, false},
               {nan, nan, true, true},
               {inf, inf, true, true},
               {inf, -inf, false, false},
               {1, inf, false, false},
               {nan, std::bit_cast<float>(0x7fc00001u), false, true}};
  for (const auto& [expected, got, has_bits, is_near] : cases) {
    const verified_case c{.problem = p,
                          .inputs = {bytes_of<float>({1})},
                          .expected = {bytes_of<float>({expected})},
                          .expected_digest = {},
                          .reference = {}};
    const call::host_operands outputs{bytes_of<float>({got})};
    EXPECT_EQ(compare(c, claiming(registry::claim::tilewise), outputs).ok, has_bits) << expected << " " << got;
    const verdict near = compare(c, claiming(registry::claim::own, 1e-3), outputs);
    EXPECT_EQ(near.ok, is_near) << expected << " " << got;
    EXPECT_EQ(std::isinf(near.max_relative_error), !is_near && !(std::isfinite(expected) && std::isfinite(got)));
  }
}

TEST(LabVerify, ASecondOutputIsComparedAndDigestedToo) {
  const registry::algorithm& sort = registry::find_algorithm("sort");
  for (const registry::problem& p : problems_at(sort, dtype::u32, {5}, 1)) {
    const verified_case c = make_case(p, data_class::uniform, 1);
    if (c.expected.size() < 2) continue;
    call::host_operands outputs = c.expected;
    const registry::variant v = claiming(registry::claim::tilewise);
    EXPECT_TRUE(compare(c, v, outputs).ok);
    EXPECT_EQ(compare(c, v, outputs).digest, c.expected_digest);
    outputs[1][0] ^= std::byte{1};
    EXPECT_FALSE(compare(c, v, outputs).ok) << to_string(p);
    EXPECT_NE(compare(c, v, outputs).digest, c.expected_digest) << to_string(p);
    EXPECT_EQ(compare(c, v, outputs).first->operand, p.what->outputs(p)[1].name);
  }
}

TEST(LabVerify, ALongCaseNamesWhatComputedItAndNumbersComeFromTheSeed) {
  const registry::problem p{
      .what = &registry::find_algorithm("matmul"), .type = dtype::f32, .shape = {1040, 1040, 1040}};
  ASSERT_GT(p.what->operations(p), longest_definition);
  EXPECT_NE(make_case(p, data_class::uniform, 1).reference, "matmul/serial");
  EXPECT_EQ(sums().reference, "scan/serial");
  std::size_t given = 0;
  const registry::algorithm& scan = registry::find_algorithm("scan");
  const std::vector<registry::problem> one = problems_at(scan, dtype::i32, {4}, 1),
                                       other = problems_at(scan, dtype::i32, {4}, 3);
  for (std::size_t i = 0; i < one.size(); ++i)
    for (std::size_t k = 0; k < scan.numbers.size(); ++k) {
      if (!is_given(one[i], k)) continue;
      EXPECT_NE(one[i].number[k].bits, other[i].number[k].bits) << to_string(one[i]);
      ++given;
    }
  EXPECT_GT(given, 0u);
}

/// Sums with their own order: each further run adds to another number of elements.
TEST(LabVerify, OfAnOrderOfItsOwnARecordCountsTheElementsThatChanged) {
  static float added = 0;
  registry::variant changing = claiming(registry::claim::own, 0.5);
  changing.run = [](const registry::problem&, const registry::bindings& where, const registry::tuning&,
                    backend::queue& queue) {
    const float sums[] = {1, 2 + added, 4 + added, 8};
    added += 0x1p-21F;
    queue.upload(where.out[0], sums, sizeof sums);
  };
  const auto on = backend::find_device("cpu:serial", {});
  const verified_case c = sums();
  operand_sets memory(c, on->queue(), 1);
  checks all(c, memory);
  const row r{&changing, on};
  const group g{c.problem, "cpu", {r}};
  measured m = describe(g, r, {});
  m.result.timing.emplace();
  all.check(r, m);
  const double first_call = *m.result.timing->first_call_ns;
  EXPECT_FALSE(m.result.verify->changed_outputs.has_value()) << "there is none before it";
  all.check(r, m);
  EXPECT_EQ(m.result.verify->changed_outputs, 2u);
  EXPECT_EQ(m.result.timing->first_call_ns, first_call) << "a later one is not the first";
  EXPECT_TRUE(m.is_ok());
}

}  // namespace
}  // namespace tilewise::lab
