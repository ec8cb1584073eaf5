// SPDX-License-Identifier: Apache-2.0
// HiPerC's FNV-1a hash, compared with the published hashes of the same fields; and runs that are stopped.
#include "base/number.hpp"
#include "scratch_folder.hpp"
#include "tool/diffuse/field.hpp"
#include "tool/diffuse/run.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace tilewise::hiperc {
namespace {

TEST(HipercHash, IsFnv1a) {
  const auto hash = [](std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    return hash_of({{}, dtype::f64, 0, 0, {bytes.begin(), bytes.end()}});
  };
  EXPECT_EQ(hash(""), "cbf29ce484222325");
  EXPECT_EQ(hash("a"), "af63dc4c8601ec8c");
  EXPECT_EQ(hash("foobar"), "85944171f73967e8");
}

/// The hash with the older basis, 1469598103934665603, which lacks one digit.
std::string published_hash_of(const snapshot& shot) {
  std::uint64_t hash = 1469598103934665603u;
  for (const std::byte byte : shot.field) hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3u;
  return base::hex_digits(hash, 16);
}

/// The default parameters, except for grid and mask.
snapshot field_after(std::uint64_t steps, std::uint64_t points, unsigned mask) {
  parameters p;
  p.nx = p.ny = points;
  p.mask = mask;
  const snapshot start = start_of(p, dtype::f64);
  snapshot end = start;
  const std::size_t count = start.field.size() / sizeof(double);
  diffuse(std::span(reinterpret_cast<const double*>(start.field.data()), count),
          std::span(reinterpret_cast<double*>(end.field.data()), count), p.problem(steps));
  return end;
}

TEST(HipercHash, IsOfTheFieldsWithThePublishedHashes) {
  struct reference {
    std::uint64_t points, steps;
    unsigned mask;
    const char *published, *fnv;
  };
  for (const reference& r : {reference{64, 1000, 53, "cd1c13e361e7f5af", "08cb9952874d1399"},
                             {64, 1000, 93, "6fdeec2cf09a065e", "4989949ba6bea438"},
                             {64, 1000, 95, "7ceda5f44a7ee256", "20f43d2081762788"},
                             {512, 1000, 53, "120a5294ce4dab36", "9d18d00e99191154"},
                             {512, 1000, 93, "c035ea0ca74a6e44", "36e5651652c668f6"},
                             {512, 10000, 53, "30c4dea3f0eb2c96", "cd54c0a3e36a00b0"}}) {
    const snapshot field = field_after(r.steps, r.points, r.mask);
    EXPECT_EQ(published_hash_of(field), r.published) << r.points << " " << r.mask << " " << r.steps;
    EXPECT_EQ(hash_of(field), r.fnv) << r.points << " " << r.mask << " " << r.steps;
  }
}

/// Runs `steps` steps, or stops at one of them; can continue where an earlier run stopped. Returns the names of the
/// files. The run asks whether to go on at step 16 and at each output.
std::set<std::string> files_of_run(const std::filesystem::path& where, std::uint64_t steps, std::uint64_t until,
                                   bool resume) {
  parameters p;
  p.nx = p.ny = 16;
  p.ns = steps, p.nc = 20;
  const auto device = backend::find_device("cpu:serial", {});
  const registry::choice how = registry::choose(problem_between_outputs(p, dtype::f64), *device, {});
  const output_folder folder(where.string());
  run all(begin_run(p, dtype::f64, folder, resume), folder, how, device->queue());
  EXPECT_EQ(all.complete([&] { return all.now().step < until; }), until > steps);
  std::set<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(where)) names.insert(file.path().filename());
  return names;
}

TEST(HipercRun, OneThatIsStoppedAndGoesOnHasTheFilesOfOneThatIsNot) {
  const tests::scratch_folder scratch;
  for (const std::uint64_t steps : {16, 47}) {
    const auto folder = [&](const std::string& name) { return scratch.path() / (std::to_string(steps) + name); };
    const std::set<std::string> whole = files_of_run(folder("whole"), steps, 99, false);
    EXPECT_TRUE(whole.contains("diffusion.00000" + std::to_string(steps) + ".png"));
    for (const std::uint64_t stop : {16, 20, 40}) {
      if (stop > steps) continue;
      files_of_run(folder(std::to_string(stop)), 47, stop, false);
      std::set<std::string> expected = whole;
      expected.insert("diffusion.00000" + std::to_string(stop) + ".npy");  // what the checkpoint went on from
      EXPECT_EQ(files_of_run(folder(std::to_string(stop)), steps, 99, true), expected) << stop << " of " << steps;
    }
  }
}

TEST(HipercRun, EachTimeStandsUnderItsNameInTheRunlogAlsoAfterACheckpoint) {
  const tests::scratch_folder scratch;
  const output_folder folder(scratch.path().string());
  const auto written = [&](const std::vector<runlog_row>& rows) {
    folder.write_runlog(rows);
    std::ostringstream text;
    text << std::ifstream(scratch.path() / "runlog.csv").rdbuf();
    return text.str();
  };
  const std::vector<runlog_row> rows{
      {.step = 7, .time = 1.5, .residual = 0.25, .steps_s = 2, .files_s = 3, .residuals_s = 4, .all_s = 9}};
  const std::string expected =
      "iter,sim_time,wrss,conv_time,step_time,IO_time,soln_time,run_time\n"
      "7,1.500000,0.250000,2.000000,0.000000,3.000000,4.000000,9.000000\n";
  EXPECT_EQ(written(rows), expected);
  parameters p;
  p.nx = p.ny = 8;
  folder.write_checkpoint(start_of(p, dtype::f64), rows);
  std::vector<runlog_row> again;
  folder.read_checkpoint(p, dtype::f64, again);
  EXPECT_EQ(written(again), expected);
}

}  // namespace
}  // namespace tilewise::hiperc
