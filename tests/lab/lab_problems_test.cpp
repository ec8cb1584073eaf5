// SPDX-License-Identifier: Apache-2.0
// What `bench` measures, and with what it compares: requested shapes and settings, data, and the two limits.
#include "backend/cpu/device.hpp"
#include "bench_run.hpp"
#include "lab/bench/derive.hpp"
#include "lab/bench/describe.hpp"
#include "lab/plan/plan.hpp"
#include "lab/plan/problems.hpp"
#include "lab/roofline/limit.hpp"
#include "lab/roofline/measure.hpp"
#include "lab/verify/verify.hpp"
#include "registry/catalog.hpp"

#include <tilewise/error.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <set>

namespace tilewise::lab {
namespace {

using namespace tests;

std::vector<std::string> names_of(const char* algorithm, const request& wanted) {
  std::vector<std::string> names;
  for (const registry::problem& p : problems_of(registry::find_algorithm(algorithm), wanted).all)
    names.push_back(registry::to_string(p));
  return names;
}
using names = std::vector<std::string>;

request plain() {
  request wanted;
  wanted.base = find_preset("quick");
  return wanted;
}

TEST(LabProblems, ASideIsAMatrixWhereMatricesAreMeant) {
  request wanted = plain();
  wanted.sizes = {5};
  EXPECT_EQ(names_of("reduce", wanted), names{"reduce.f32 n=5 op=sum init=none"});
  EXPECT_EQ(names_of("matvec", wanted), names{"matvec.f32 n=5x5"});
  EXPECT_EQ(names_of("matmul", wanted), names{"matmul.f32 n=5x5x5"});
  EXPECT_EQ(names_of("convolve", wanted), names{"convolve.f32 n=5x5x3x3 border=valid"}) << "only a side of the image";
}

TEST(LabProblems, AShapeIsForTheAlgorithmsOfItsRank) {
  request wanted = plain();
  wanted.shapes = {{4, 3}, {4, 3, 2}, {4, 3, 3}};
  EXPECT_EQ(names_of("reduce", wanted), names{});
  EXPECT_EQ(names_of("matvec", wanted), (names{"matvec.f32 n=4x3", "matvec.f32 n=4x3x3"}))
      << "a stride shorter than the row";
  EXPECT_EQ(names_of("matmul", wanted), (names{"matmul.f32 n=4x3x2", "matmul.f32 n=4x3x3"}));
  const registry::algorithm* const reduce[] = {&registry::find_algorithm("reduce")};
  EXPECT_THROW(refuse_foreign(reduce, wanted), error);
  const registry::algorithm* const both[] = {reduce[0], &registry::find_algorithm("matvec")};
  wanted.shapes = {{4, 3}};
  EXPECT_NO_THROW(refuse_foreign(both, wanted));
}

TEST(LabProblems, SettingsAreCombinedAndCheckedByTheirWords) {
  request wanted = plain();
  wanted.sizes = {5};
  wanted.settings = {{"order", "descending"}, {"payload", "indices"}, {"payload", "values64"}};
  EXPECT_EQ(names_of("sort", wanted),
            (names{"sort.f32 n=5 order=descending payload=indices", "sort.f32 n=5 order=descending payload=values64"}));
  EXPECT_EQ(names_of("matmul", wanted), names{"matmul.f32 n=5x5x5"});
  wanted.settings = {{"payload", "index"}};
  EXPECT_THROW(names_of("sort", wanted), error);
}

TEST(LabProblems, WhatNoMachineHoldsHasAReason) {
  request wanted = plain();
  wanted.sizes = {std::uint64_t{1} << 27};
  EXPECT_EQ(problems_of(registry::find_algorithm("reduce"), wanted).all.size(), 1u);
  const asked_problems products = problems_of(registry::find_algorithm("matmul"), wanted);
  EXPECT_TRUE(products.all.empty());
  EXPECT_NE(products.refused.find("no machine holds"), products.refused.npos) << products.refused;
}

/// "variant shape" of all our rows of an algorithm that have a choice of variants.
std::set<std::string> rows_of(const std::vector<group>& plan, std::string_view algorithm) {
  std::set<std::string> rows;
  for (const group& g : plan)
    for (const row& r : g.rows)
      if (g.problem.what->name == algorithm && r.variant->backend == "cpu" && !r.variant->peer && !is_limit(*r.variant))
        rows.insert(r.id() + " " + registry::to_string(g.problem.shape));
  return rows;
}

TEST(LabPlan, AFirstLookHasWhatADeviceWouldChooseAndOneLadder) {
  request wanted = plain();
  wanted.devices = {backend::cpu::make_device("cpu:serial", {})};
  const std::vector<group> plan = make_plan(wanted);
  EXPECT_EQ(rows_of(plan, "polymul"),
            (std::set<std::string>{"polymul/cpu:naive 256x256", "polymul/cpu:ntt 16384x16384"}));
  EXPECT_EQ(rows_of(plan, "matmul"),
            (std::set<std::string>{"matmul/cpu:packed 128x128x128", "matmul/cpu:packed 512x512x512",
                                   "matmul/cpu:blocked 512x512x512", "matmul/cpu:simple 512x512x512"}));
  std::map<std::string_view, std::set<dtype>> types;
  for (const group& g : plan) types[g.problem.what->name].insert(g.problem.type);
  EXPECT_EQ(types.size(), registry::algorithms().size());
  for (const auto& [algorithm, found] : types) EXPECT_EQ(found.size(), 1u) << algorithm;
}

TEST(LabPlan, AFirstLookHasOtherTeamsOnlyWhereDevicesAreNamed) {
  const auto teams = backend::cpu::executor_names();
  if (std::find(teams.begin(), teams.end(), "openmp") == teams.end()) GTEST_SKIP() << "OpenMP is not built";
  request wanted = plain();
  wanted.devices = {backend::cpu::make_device("cpu:threads", {}), backend::cpu::make_device("cpu:openmp", {})};
  const auto has_openmp = [&] {
    for (const group& g : make_plan(wanted))
      for (const row& r : g.rows)
        if (r.place() == "cpu:openmp") return true;
    return false;
  };
  EXPECT_FALSE(has_openmp());
  wanted.names_devices = true;
  EXPECT_TRUE(has_openmp());
}

TEST(LabPlan, LimitsAreThoseOfAllThreadsWhereverOneCoreIsNamed) {
  request wanted = plain();
  wanted.names_devices = true;
  wanted.selectors = {"reduce"};
  for (const std::vector<const char*>& named : {std::vector{"cpu:serial", "cpu:threads"},
                                                std::vector{"cpu:threads", "cpu:serial"}, std::vector{"cpu:serial"}}) {
    wanted.devices.clear();
    for (const char* name : named) wanted.devices.push_back(backend::cpu::make_device(name, {}));
    const std::string most = named.size() == 1 ? "cpu:serial" : "cpu:threads";
    for (const group& g : make_plan(wanted))
      for (const row& r : g.rows)
        if (is_limit(*r.variant)) {
          EXPECT_EQ(r.on->info().name, most) << named.back();
        }
  }
}

TEST(LabPlan, WhatIsNamedIsMeasuredWithAllItsVariants) {
  request wanted = plain();
  wanted.devices = {backend::cpu::make_device("cpu:serial", {})};
  wanted.selectors = {"polymul"};
  const std::set<std::string> rows = rows_of(make_plan(wanted), "polymul");
  for (const char* row :
       {"polymul/cpu:naive 16384x16384", "polymul/cpu:ntt 4096x4096", "polymul/cpu:karatsuba 256x256"})
    EXPECT_TRUE(rows.contains(row)) << row;
}

TEST(LabProblems, ProductsAreMeasuredOnDataThatDoesNotVanish) {
  const outcome o = bench({"reduce", "--op", "product,sum", "--variant", "reduce/serial"});
  ASSERT_EQ(o.records.size(), 4u);
  for (const auto& r : o.records)
    EXPECT_EQ(r["case"]["data"], r["case"]["settings"]["op"] == "product" ? "near_one" : "uniform");
}

TEST(LabCeiling, FasterThanTheCopyAllowsIsImplausible) {
  const registry::problem scan{.what = &registry::find_algorithm("scan"), .shape = {1000}};
  const registry::problem reduce{.what = &registry::find_algorithm("reduce"), .shape = {1000}};
  const auto judged = [](const registry::problem& p, double share, std::uint64_t cache) {
    return is_plausible(p, {registry::claim::tilewise, ceiling::copy, share, cache});
  };
  EXPECT_DOUBLE_EQ(copied_bytes(scan), 8000);
  EXPECT_TRUE(judged(scan, 1.04, 0));
  EXPECT_FALSE(judged(scan, 1.06, 0));
  EXPECT_TRUE(judged(reduce, 1.50, 0)) << "a copy writes too, and a cache may read what it writes";
  EXPECT_FALSE(judged(reduce, 1.60, 0));
  const auto moved = static_cast<std::uint64_t>(copied_bytes(scan));
  EXPECT_TRUE(judged(scan, 5.0, moved)) << "within the cache";
  EXPECT_FALSE(judged(scan, 5.0, moved - 1));
}

TEST(LabCeiling, FasterThanTheMultiplyAddsIsImplausibleUnlessTheOrderIsItsOwn) {
  const registry::problem product{.what = &registry::find_algorithm("matmul"), .shape = {8, 8, 8}};
  constexpr std::uint64_t all_cached = ~std::uint64_t{0};
  EXPECT_TRUE(is_plausible(product, {registry::claim::tilewise, ceiling::fma, 1.04, all_cached}));
  EXPECT_FALSE(is_plausible(product, {registry::claim::tilewise, ceiling::fma, 1.06, all_cached}));
  EXPECT_TRUE(is_plausible(product, {registry::claim::own, ceiling::fma, 8, all_cached}));
  const registry::problem image{.what = &registry::find_algorithm("convolve"), .shape = {64, 64, 9, 9}};
  EXPECT_FALSE(is_plausible(image, {registry::claim::tilewise, ceiling::muladd, 1.06, all_cached}));
  const registry::problem polynomial{.what = &registry::find_algorithm("polymul"), .shape = {64, 64}};
  EXPECT_TRUE(is_plausible(polynomial, {registry::claim::tilewise, ceiling::fma, 8, all_cached}))
      << "a transform needs fewer operations than are counted";
}

TEST(LabCeiling, ALimitThatWasItselfDisturbedMakesNothingImplausible) {
  const auto on = backend::find_device("cpu:serial", {});
  const registry::problem scan{
      .what = &registry::find_algorithm("scan"), .type = dtype::f32, .shape = {std::uint64_t{1} << 30}};
  const registry::variant ours{
      .algorithm = "scan", .backend = "cpu", .name = "made_up", .types = all_dtypes, .source = "", .run = nullptr};
  const group both{scan, "cpu", {{&ours, on}, {limits_of(scan, "cpu").front(), on}}};
  const auto is_plausible_beside = [&](const std::vector<double>& copy_ns) {
    std::vector<measured> rows;
    for (const row& r : both.rows) {
      measured& m = rows.emplace_back(describe(both, r, {}));
      m.result.timing.emplace().kernel =
          clock_of({.calls_per_sample = 1,
                    .ns = &r == &both.rows.front() ? std::vector<double>(10, 5e8) : copy_ns,
                    .failure = {}});
    }
    derive(both, rows);
    EXPECT_GT(*rows.front().result.derived->fraction_of_ceiling, 1.7) << "either way";
    return rows.front().result.derived->plausible;
  };
  EXPECT_FALSE(is_plausible_beside(std::vector<double>(10, 1e9)));
  EXPECT_TRUE(is_plausible_beside({.9e9, .9e9, .9e9, .9e9, 1e9, 1e9, 1.2e9, 1.2e9, 1.2e9, 1.2e9})) << "within 20 %";
  EXPECT_TRUE(is_plausible_beside(std::vector<double>(5, 1e9))) << "too few for an interval";
}

TEST(LabCeiling, WhatNeedsLongerIsTheLimit) {
  const outcome o =
      bench({"convolve", "--dtype", "f64", "--shape", "64x64x1x1,96x96x31x31", "--variant", "direct"}, "9");
  EXPECT_EQ(o.exit_code, 0);
  for (const auto& r : o.records) {
    if (r["case"]["algorithm"] != "convolve") continue;
    const auto& [derived, c] = std::pair(r["derived"], r["case"]);
    const bool both = !derived["ceiling_operations_per_s"].is_null();
    EXPECT_EQ(both, c["shape"][2] == 31) << "961 products for each pixel";
    const double copying = c["bytes_min"].get<double>() / derived["ceiling_bytes_per_s"].get<double>();
    const double computing =
        both ? c["operations"].get<double>() / derived["ceiling_operations_per_s"].get<double>() : 0;
    const double takes = r["timing"]["kernel"]["median_ns"].get<double>() * 1e-9;
    EXPECT_EQ(derived["ceiling"], copying > computing ? "copy" : "muladd");
    EXPECT_NEAR(derived["fraction_of_ceiling"].get<double>() / (std::max(copying, computing) / takes), 1, 1e-9);
  }
  EXPECT_TRUE(is_valid(o.file));
}

TEST(LabCeiling, AProductIsHeldAgainstTheMultiplyAdds) {
  const outcome o = bench({"matmul", "--dtype", "f32,f64,i32,u64", "--variant", "matmul/serial"}, "24");
  EXPECT_EQ(o.exit_code, 0);
  ASSERT_EQ(o.records.size(), 8u) << "a row and its limit for each type";
  for (const auto& r : o.records) {
    const bool is_limit = r["case"]["algorithm"] == "fma";
    EXPECT_EQ(r["case"]["variant"], is_limit ? "fma/cpu" : "matmul/serial");
    EXPECT_EQ(r["derived"]["ceiling"], "fma");
    EXPECT_TRUE(r["derived"]["ceiling_bytes_per_s"].is_null());
    EXPECT_GT(r["derived"]["operations_per_s"].get<double>(), 0);
    EXPECT_TRUE(r["derived"]["elements_per_s"].is_null()) << "the work does not grow with them";
    EXPECT_EQ(is_limit, r["derived"]["fraction_of_ceiling"].get<double>() == 1);
  }
  EXPECT_TRUE(is_valid(o.file));
}

TEST(LabCeiling, ASortIsToldInElementsAndHeldAgainstTheCopy) {
  const outcome o = bench({"sort", "--set", "payload=indices", "--variant", "sort/serial"});
  ASSERT_EQ(o.records.size(), 2u);
  for (const auto& r : o.records) {
    const auto& derived = r["derived"];
    EXPECT_EQ(derived["ceiling"], "copy");
    // The same share in either unit, though the copy moves only the keys.
    const double elements = derived["elements_per_s"].get<double>(), bytes = derived["bytes_per_s"].get<double>();
    EXPECT_NEAR(bytes / elements, 12, 1e-9);
  }
  EXPECT_TRUE(is_valid(o.file));
}

TEST(LabCeiling, SoIsASortOfTheRowsOfAMatrix) {
  const outcome o = bench({"sort_axis", "--dtype", "f32", "--variant", "sort_axis/serial"}, "24");
  ASSERT_FALSE(o.records.empty());
  for (const auto& r : o.records) {
    const auto& derived = r["derived"];
    EXPECT_NEAR(derived["bytes_per_s"].get<double>() / derived["elements_per_s"].get<double>(), 8, 1e-9);
  }
}

TEST(LabCeiling, EveryDeviceCountsItsMultiplyAdds) {
  for (const registry::algorithm* a : registry::algorithms())
    EXPECT_EQ(ceilings_of({.what = a, .shape = a->quick_shapes.front()}).front(),
              a->speed_in == registry::speed_unit::operations ? *arithmetic_of(*a) : ceiling::copy)
        << a->name;
  const auto bounds = [](const char* name, const registry::extents& shape) {
    return ceilings_of({.what = &registry::find_algorithm(name), .shape = shape});
  };
  EXPECT_EQ(bounds("diffuse", {512, 512, 100}), (std::vector{ceiling::copy, ceiling::muladd}));
  EXPECT_EQ(bounds("polymul", {512, 512}), (std::vector{ceiling::copy, ceiling::fma}));
  EXPECT_EQ(bounds("sort", {1 << 20}), std::vector{ceiling::copy}) << "its operations are comparisons";
  const auto cpu = backend::find_device("cpu:serial", {}), group = backend::find_device("2*cpu:serial", {});
  for (const dtype type : all_dtypes)
    for (const ceiling which : {ceiling::fma, ceiling::muladd}) {
      const double of_one = operations_of(which, type, cpu->queue());
      EXPECT_GT(of_one, 1e6) << name_of(type) << name_of(which);
      EXPECT_EQ(operations_of(which, type, group->queue()), 2 * of_one) << name_of(type) << name_of(which);
    }
}

TEST(LabRoofs, ALaunchIsOneWhereACallStartsSomething) {
  EXPECT_TRUE(measure_launch(*backend::find_device("cpu:serial", {}), {}).empty());
  std::string why_none;
  for (const backend::runtime& r : backend::runtimes())
    if (r.name == "opencl")
      for (const auto& on : r.devices(why_none)) {
        const std::vector<record::result> found = measure_launch(*on, {});
        ASSERT_EQ(found.size(), 1u);
        EXPECT_EQ(found.front().what.algorithm, "launch");
        EXPECT_EQ(found.front().state, record::status::ok) << found.front().reason.value_or("");
      }
}

TEST(LabVerify, WhatAnotherOrderIsOffByIsHeldAgainstItsTermsThoughTheyCancel) {
  const auto bytes_of = [](std::vector<float> values) {
    const auto bytes = std::as_bytes(std::span(values));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  };
  const registry::problem p{.what = &registry::find_algorithm("matmul"), .type = dtype::f32, .shape = {1, 1, 2}};
  const verified_case c = make_case(p, {bytes_of({8, -8}), bytes_of({1, 0.999F})});
  registry::variant own{};
  own.order = registry::claim::own;
  own.bound = 2e-2;
  const auto is_within = [&](float off) {
    float exact;
    std::memcpy(&exact, c.expected[0].data(), sizeof exact);
    const call::host_operands got{bytes_of({exact + off})};
    return compare(c, own, got).ok;
  };
  EXPECT_TRUE(is_within(0.15F)) << "twenty times the result, and less than 2 % of 8 x 1";
  EXPECT_FALSE(is_within(0.17F));
  EXPECT_FALSE(is_within(std::numeric_limits<float>::quiet_NaN()));
}

}  // namespace
}  // namespace tilewise::lab
