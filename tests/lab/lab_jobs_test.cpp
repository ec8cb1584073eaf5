// SPDX-License-Identifier: Apache-2.0
// Whole jobs: measured as rows of the laboratory, and predicted from figures.
#include "bench_run.hpp"
#include "lab/jobs/figures.hpp"
#include "planted_variant.hpp"
#include "registry/catalog.hpp"

#include <filesystem>

namespace tilewise::lab {
namespace {

using tests::planted_peer, tests::bench, tests::is_valid, tests::outcome, tests::record_of;

/// The definition, with one wrong bit in the last element.
void run_wrong(const registry::problem& p, const registry::bindings& where, const registry::tuning& t,
               backend::queue& queue) {
  registry::reference_of(*p.what).run(p, where, t, queue);
  where.out[0].as<unsigned char>()[p.what->outputs(p)[0].bytes() - 1] ^= 1;
}

/// Does nothing, so another row's result could be taken for its own.
void run_nothing(const registry::problem&, const registry::bindings&, const registry::tuning&, backend::queue&) {}

void run_failing_job(const registry::problem&, const registry::bindings&, const registry::tuning&, backend::queue&) {
  throw error(errc::unsupported, "planted");
}

void plant_jobs() {
  static const bool done = [] {
    registry::add_peers(std::vector{planted_peer("scan", "job_wrong", run_wrong),
                                    planted_peer("scan", "job_nothing", run_nothing),
                                    planted_peer("scan", "job_throws", run_failing_job)});
    return true;
  }();
  (void)done;
}

/// The number of folders that runs have left for files.
std::size_t folders_of_files() {
  std::size_t found = 0;
  for (const char* parent : {"/dev/shm", "/tmp"})
    if (std::filesystem::is_directory(parent))
      for (const auto& entry : std::filesystem::directory_iterator(parent))
        found += entry.path().filename().string().starts_with("tilewise-files-" + std::to_string(getpid()));
  return found;
}

TEST(LabJobs, AJobIsARecordWithItsWholeTime) {
  for (const char* mode : {"host_to_host", "file_to_file"})
    for (const char* algorithm : {"reduce", "scan", "sort", "matmul", "matvec", "polymul", "convolve"}) {
      SCOPED_TRACE(std::string(algorithm) + " " + mode);
      const bool is_image = std::string(algorithm) == "convolve";
      const outcome o = is_image ? bench({algorithm, "--mode", mode, "--shape", "40x30x3x3"})
                                 : bench({algorithm, "--mode", mode}, "70");
      EXPECT_EQ(o.exit_code, 0);
      EXPECT_TRUE(is_valid(o.file));
      ASSERT_FALSE(o.records.empty());
      for (const auto& r : o.records) {
        EXPECT_EQ(r["case"]["mode"], mode);
        EXPECT_EQ(r["status"], "ok") << r["reason"];
        EXPECT_TRUE(r["timing"]["kernel"].is_null()) << "a job's time is not a kernel's";
        EXPECT_GT(r["timing"]["end_to_end"]["median_ns"], 0);
      }
    }
}

TEST(LabJobs, FromFilesThereAreTheLimitAndThePhases) {
  const outcome o = bench({"scan", "--mode", "file_to_file"}, "1300011");
  const auto& phases = record_of(o, "scan/cpu")["timing"]["phases"];
  double sum = 0;
  for (const char* key : {"read", "kernel", "write"}) sum += phases[key].get<double>();
  EXPECT_GT(phases["kernel"], 0);
  EXPECT_FALSE(phases.contains("upload")) << "nothing travels to a CPU";
  EXPECT_LT(sum, 3 * record_of(o, "scan/cpu")["timing"]["end_to_end"]["max_ns"].get<double>()) << "they overlap";
  EXPECT_TRUE(record_of(o, "copy/files")["verify"].is_null());
  EXPECT_GT(record_of(o, "scan/cpu")["derived"]["fraction_of_ceiling"], 0);
  EXPECT_EQ(record_of(o, "scan/cpu")["derived"]["ceiling"], "copy");
  const outcome reduced = bench({"reduce", "--mode", "file_to_file"}, "1300011");
  EXPECT_FALSE(record_of(reduced, "reduce/cpu")["timing"]["phases"].contains("write")) << "its result is printed";
  EXPECT_EQ(folders_of_files(), 0u);
}

TEST(LabJobs, OnlyWhatEachDeviceWouldChooseUnlessVariantsAreNamed) {
  const outcome all = bench({"sort", "--mode", "host_to_host"});
  for (const auto& r : all.records)
    EXPECT_TRUE(r["case"]["peer"] == true || r["case"]["variant"] == "sort/cpu:radix") << r["case"]["variant"];
  EXPECT_EQ(record_of(bench({"sort/cpu:merge", "--mode", "file_to_file"}), "sort/cpu:merge")["status"], "ok");
}

TEST(LabJobs, AWrongResultHasNoTime) {
  plant_jobs();
  for (const char* mode : {"host_to_host", "file_to_file"}) {
    const outcome o = bench({"scan", "--mode", mode});
    EXPECT_EQ(o.exit_code, 3);
    EXPECT_TRUE(is_valid(o.file));
    for (const char* wrong : {"scan/cpu:job_wrong", "scan/cpu:job_nothing"}) {
      EXPECT_EQ(record_of(o, wrong)["status"], "wrong") << wrong << " " << mode;
      EXPECT_TRUE(record_of(o, wrong)["timing"].is_null());
    }
    EXPECT_EQ(record_of(o, "scan/cpu:job_throws")["status"], "failed");
    EXPECT_EQ(record_of(o, "scan/cpu")["status"], "ok") << "another row's fault costs it nothing";
  }
}

TEST(LabJobs, AnUnknownModeIsNamed) {
  EXPECT_EQ(bench({"scan", "--mode", "file_to_fiel"}).exit_code, 2);
  EXPECT_EQ(bench({"scan", "--mode", "host"}).exit_code, 2);
}

constexpr double gb = 1e9;

/// A machine with a link of 1 GB/s each way; CPU and device do a billion operations per second.
machine_figures figures() {
  const growth second{.operations = 1e9, .ns = 1e9};
  machine_figures m;
  m.read_bytes_per_s = 4 * gb;
  m.cpu.computing = {{"scan.f32", second}, {"sort.f32", second}};
  m.device.emplace();
  m.device->upload_bytes_per_s = m.device->download_bytes_per_s = gb;
  m.device->pieces_from_bytes = gb;
  m.device->computing = m.cpu.computing;
  return m;
}

registry::problem scan_of(std::uint64_t n, const char* algorithm = "scan") {
  return {.what = &registry::find_algorithm(algorithm), .type = dtype::i32, .shape = {n}};
}

TEST(LabFigures, WhatTravelsInPiecesOverlaps) {
  const auto large = *predict(figures(), scan_of(1'000'000'000), false);
  EXPECT_DOUBLE_EQ(large.cpu_ns, 2e9) << "a second to read, one to compute";
  EXPECT_DOUBLE_EQ(large.device_ns, 5e9) << "the slowest of up, kernel and down, after reading";
  machine_figures whole = figures();
  whole.device->pieces_from_bytes = 100 * gb;
  EXPECT_DOUBLE_EQ(predict(whole, scan_of(1'000'000'000), false)->device_ns, 10e9) << "all three one after the other";
  const auto sorted = predict(figures(), scan_of(1'000'000'000, "sort"), false);
  EXPECT_GT(sorted->device_ns, 9e9) << "sort does not go in pieces";
}

TEST(LabFigures, ReadingAndComputingOverlapOnTheCpuAlone) {
  const auto at_once = *predict(figures(), scan_of(1'000'000'000), true);
  EXPECT_DOUBLE_EQ(at_once.cpu_ns, 1e9);
  EXPECT_DOUBLE_EQ(at_once.device_ns, predict(figures(), scan_of(1'000'000'000), false)->device_ns);
}

TEST(LabFigures, TheStartOfADeviceCounts) {
  machine_figures slow = figures();
  const double before = predict(slow, scan_of(1000), false)->device_ns;
  slow.device->start_ns = 3e9;
  slow.device->latency_ns = 1e9;
  EXPECT_DOUBLE_EQ(predict(slow, scan_of(1000), false)->device_ns, before + 4e9);
}

TEST(LabFigures, TimesGrowAsTheyWereMeasuredTo) {
  const growth as_a_root{.operations = 100, .ns = 10, .power = 0.5};
  EXPECT_DOUBLE_EQ(as_a_root.ns_for(400), 20);
  EXPECT_DOUBLE_EQ(as_a_root.ns_for(0), 0);
}

TEST(LabFigures, WhatWasNotMeasuredIsNotPredicted) {
  EXPECT_FALSE(predict(figures(), scan_of(1000, "reduce"), false));
  registry::problem wide = scan_of(1000);
  wide.type = dtype::i64;
  EXPECT_FALSE(predict(figures(), wide, false));
  machine_figures alone = figures();
  alone.device.reset();
  EXPECT_FALSE(predict(alone, scan_of(1000), false));
}

}  // namespace
}  // namespace tilewise::lab
