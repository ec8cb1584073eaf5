// SPDX-License-Identifier: Apache-2.0
// What the documents' experiments plan: rows for their programs, each tuning that they swept, and no other executors.
#include "lab/plan/plan.hpp"
#include "lab/roofline/limit.hpp"
#include "lab/verify/verify.hpp"
#include "registry/catalog.hpp"
#include "tool/bench/documents.hpp"
#include "tool/known_peers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace tilewise::lab {
namespace {

/// A method that no row repeats would be missing from the charts without notice.
TEST(SeedsPlan, EachMethodIsRepeatedByAVariant) {
  if (!cli::add_known_peers()) GTEST_SKIP() << "this build is without the documents' own programs";
  for (const experiment& e : cli::documents()) {
    const auto known = registry::variants_of(registry::find_algorithm(e.algorithm));
    for (const method& m : e.methods) {
      const auto repeats = [&](const registry::variant* v) {
        for (const char* place : {"cpu", "cpu:serial", "cpu:threads", "opencl:0", "cuda:0", "openacc:0", "1*cpu:serial",
                                  "1*mpi:cpu:serial"})
          if (method_of(e, v->id(), place) == &m) return true;
        return false;
      };
      const bool is_elsewhere = m.row.find("/cuda:") != m.row.npos || m.row.find("/openacc") != m.row.npos;
      EXPECT_TRUE(is_elsewhere || std::any_of(known.begin(), known.end(), repeats)) << e.algorithm << " " << m.row;
    }
  }
}

TEST(SeedsPlan, OfOtherTeamsOnlyTheDocumentsProgramsAreMeasured) {
  request wanted;
  wanted.base = find_preset("seeds");
  wanted.documents = cli::documents();
  wanted.selectors = {"sort"};
  wanted.devices = {backend::find_device("cpu:threads", {.threads = 2}),
                    backend::find_device("cpu:openmp", {.threads = 2})};
  const auto ours_on_openmp = [&] {
    std::size_t rows = 0;
    for (const group& g : make_plan(wanted))
      for (const row& r : g.rows)
        rows += r.on->info().name == "cpu:openmp" && !r.variant->peer && !is_limit(*r.variant) &&
                r.variant->backend == "cpu" && r.place() != "cpu";
    return rows;
  };
  EXPECT_EQ(ours_on_openmp(), 0u);
  wanted.names_devices = true;
  EXPECT_GT(ours_on_openmp(), 0u);
}

/// Compiling it takes a CPU's OpenCL a while, but a program of the document may not be missing from its table.
TEST(SeedsPlan, AProgramOfTheDocumentIsMeasuredOnACpusOpenclToo) {
  request wanted;
  wanted.base = find_preset("seeds");
  wanted.documents = cli::documents();
  wanted.selectors = {"diffuse"};
  if (!cli::add_known_peers()) GTEST_SKIP() << "this build is without the documents' own programs";
  try {
    wanted.devices = {backend::find_device("opencl:0", {})};
  } catch (const error&) {
    GTEST_SKIP() << "no OpenCL device";
  }
  std::size_t programs = 0;
  for (const group& g : make_plan(wanted))
    for (const row& r : g.rows)
      if (r.id() == "diffuse/opencl:hiperc") {
        EXPECT_EQ(r.skip, "");
        ++programs;
      }
  EXPECT_EQ(programs, 4u) << "on each grid";
}

TEST(SeedsPlan, WhatRanInProcessesIsMeasuredOnRanks) {
  request wanted;
  wanted.variant = "polymul/group:karatsuba";
  wanted.base = find_preset("seeds");
  wanted.devices = {backend::find_device("cpu:serial", {})};
  const auto ranks_of = [&] {
    std::string text;
    for (const group& g : make_plan(wanted))
      for (const row& r : g.rows)
        if (!is_limit(*r.variant)) text += r.on->info().name + "; ";
    return text;
  };
  const std::string once = "1*cpu:serial; 2*cpu:serial; 4*cpu:serial; ";
  EXPECT_EQ(ranks_of(), once + once);  // at both sizes
  wanted.names_devices = true;
  EXPECT_EQ(ranks_of(), "");
}

TEST(SeedsPlan, APublicCallThatIsNotAskedForIsNotMissing) {
  request wanted;
  wanted.base = find_preset("seeds");
  wanted.documents = cli::documents();
  wanted.devices = {backend::find_device("cpu:threads", {.threads = 2})};
  wanted.public_calls = false;
  for (const auto& [id, why] : left_out(make_plan(wanted), wanted)) EXPECT_NE(why, "") << id;
}

TEST(SeedsPlan, WhatTheDocumentSweptHasARowForEachTuning) {
  experiment planted = *std::find_if(cli::documents().begin(), cli::documents().end(),
                                     [](const experiment& e) { return e.algorithm == "polymul"; });
  planted.sizes = {{{8, 8}, ""}};
  planted.only = "polymul/cpu:*";
  planted.sweep = "polymul/cpu:naive";
  request wanted;
  wanted.base = find_preset("seeds");
  wanted.documents = {&planted, 1};
  wanted.selectors = {"polymul"};
  wanted.names_devices = true;
  wanted.devices = {backend::find_device("cpu:serial", {})};
  std::size_t swept = 0;
  for (const group& g : make_plan(wanted))
    for (const row& r : g.rows) {
      if (is_limit(*r.variant)) continue;
      EXPECT_EQ(r.variant->backend, "cpu") << r.id();
      swept += r.id() == planted.sweep;
      EXPECT_TRUE(r.id() == planted.sweep || r.is_default_tuning()) << r.id();
    }
  for (const registry::variant* v : registry::variants_of(registry::find_algorithm("polymul")))
    if (v->id() == planted.sweep) {
      EXPECT_EQ(swept, registry::tuning_space(v->tuning).size());
    }
  EXPECT_GT(swept, 1u);
}

/// What the document compares results by, for the definition's results.
TEST(SeedsPlan, ChecksAreComputedFromTheExpectedOutputs) {
  const experiment& product = cli::documents().front();
  const registry::problem p = product.problem({{256, 256}, ""});
  // The sum of a product's coefficients is the product of the sums: 1 to 10 and 2 to 6, again and again.
  const std::uint64_t a = 25 * 55 + (1 + 2 + 3 + 4 + 5 + 6), b = 51 * 20 + 2;
  EXPECT_EQ(product.check.of(p, make_case(p, product.inputs(p)).expected), std::to_string(a * b));
  const experiment& diffusion = cli::documents().back();
  const registry::problem field = diffusion.problem(diffusion.sizes.front());
  const double residual = std::stod(diffusion.check.of(field, make_case(field, diffusion.inputs(field)).expected));
  EXPECT_GT(residual, 0);
  EXPECT_LT(residual, 1);
}

/// A problem with several kinds of data has several tables, each with its own baseline.
TEST(SeedsPlan, KindsOfDataAreBlocksOfTheirOwn) {
  std::set<std::string> titles;
  for (const experiment& e : cli::documents()) {
    if (e.algorithm != "sort") continue;
    EXPECT_EQ(e.sizes.size(), 4u);
    group g;
    g.problem = e.problem(e.sizes.back());
    g.from = &e;
    titles.insert(g.title());
  }
  EXPECT_EQ(titles.size(), 3u);
}

}  // namespace
}  // namespace tilewise::lab
