// SPDX-License-Identifier: Apache-2.0
// The documents' experiments: their declarations fit the catalog, their inputs give the published results, and the
// table compares their figures with the right clock.
#include "bench_run.hpp"
#include "lab/bench/bench.hpp"
#include "lab/machine/environment.hpp"
#include "lab/plan/experiment.hpp"
#include "lab/plan/plan.hpp"
#include "lab/roofline/limit.hpp"
#include "lab/verify/verify.hpp"
#include "record/file.hpp"
#include "registry/catalog.hpp"
#include "scratch_folder.hpp"
#include "tool/bench/documents.hpp"
#include "tool/bench/table.hpp"
#include "tool/known_peers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include <fnmatch.h>

namespace tilewise::lab {
namespace {

using namespace tests;

const experiment& polynomials() {
  return *std::find_if(cli::documents().begin(), cli::documents().end(),
                       [](const experiment& e) { return e.algorithm == "polymul"; });
}

TEST(Seeds, EachIsAProblemOfTheCatalogWithItsBaseline) {
  const bool has_programs = cli::add_known_peers();  // one baseline is the document's own program
  for (const experiment& e : cli::documents()) {
    const auto known = registry::variants_of(registry::find_algorithm(e.algorithm));
    const auto is_baseline = [&](const auto* v) { return v->id() == e.baseline; };
    EXPECT_TRUE(!has_programs || std::any_of(known.begin(), known.end(), is_baseline)) << e.baseline;
    for (const measured_size& size : e.sizes) {
      const registry::problem p = e.problem(size);
      EXPECT_EQ(p.what->invalid(p), "");
      if (e.inputs == nullptr || p.n() > 5000) continue;
      const call::host_operands inputs = e.inputs(p);
      const auto operands = p.what->inputs(p);
      ASSERT_EQ(inputs.size(), operands.size());
      for (std::size_t i = 0; i < inputs.size(); ++i) EXPECT_EQ(inputs[i].size(), operands[i].bytes());
      if (size.first_outputs.empty()) continue;
      const auto values =
          static_cast<std::uint64_t>(std::count(size.first_outputs.begin(), size.first_outputs.end(), ' ') + 1);
      EXPECT_EQ(first_values(make_case(p, inputs), values), size.first_outputs) << e.document;
    }
  }
}

/// A figure whose pattern matches no row would never be compared.
TEST(Seeds, EachFigureIsOfASizeAndHasACounterpart) {
  for (const experiment& e : cli::documents())
    for (const figure& f : e.figures) {
      EXPECT_NE(e.at(f.shape), nullptr) << f.system;
      EXPECT_GT(f.ns, 0);
      const auto fits = [&](const registry::variant* v) {
        for (const char* place :
             {"cpu", "cpu:serial", "cpu:threads", "cpu:openmp", "cpu:tbb", "opencl:0", "1*cpu:serial"}) {
          const auto beside = figures_of(e, f.shape, v->id(), place, std::string(f.tuning));
          if (std::find(beside.begin(), beside.end(), &f) != beside.end()) return true;
        }
        return false;
      };
      const auto known = registry::variants_of(registry::find_algorithm(e.algorithm));
      const auto lacks = [&](std::string_view backend) {  // this build, or all
        return f.counterparts[0].find("/" + std::string(backend)) != std::string_view::npos &&
               std::none_of(known.begin(), known.end(), [&](const auto* v) { return v->backend == backend; });
      };
      EXPECT_TRUE(lacks("cuda") || lacks("opencl") || lacks("openacc") || std::any_of(known.begin(), known.end(), fits))
          << f.counterparts[0];
    }
}

TEST(Seeds, SequentialAndThreadedFiguresGoToTheirOwnRows) {
  const registry::extents large{65536, 65536};
  const auto systems = [&](const char* id, const char* place) {
    std::string text;
    for (const figure* f : figures_of(polynomials(), large, id, place)) text += std::string(f->system) + "; ";
    return text;
  };
  EXPECT_EQ(systems("polymul/serial", "cpu"), "naive CPU, sequential; naive CPU, sequential; ");
  EXPECT_EQ(systems("polymul/cpu:naive", "cpu:threads"), "naive CPU, threads; ");
  EXPECT_EQ(systems("polymul/cpu:naive", "cpu:openmp"), "");
  EXPECT_EQ(systems("polymul/opencl:global", "opencl:1"), "naive GPU, global memory; ");
  EXPECT_EQ(systems("polymul/group:naive", "1*cpu:serial"), "naive, MPI, 1 process; ");
  EXPECT_EQ(systems("polymul/group:naive", "1*mpi:cpu:serial"), "naive, MPI, 1 process; ");
  EXPECT_EQ(systems("polymul/group:karatsuba", "1*mpi:cpu:serial"), "Karatsuba, MPI, 1 process; ");
  EXPECT_EQ(systems("polymul/group:karatsuba", "2*cpu:serial"), "");
  EXPECT_EQ(systems("polymul/group:karatsuba", "2*mpi:cpu:serial"), "");
}

TEST(Seeds, AResultOtherThanThePublishedOneIsAFailureWithoutTimes) {
  experiment planted = polynomials();
  planted.sizes = {{{8, 8}, "2 7 16 30 51"}};
  const registry::problem p = planted.problem(planted.sizes.front());
  const group wrong{p, "cpu", {{&registry::reference_of(*p.what), backend::find_device("cpu", {})}}, &planted};
  std::vector<measured> seen;
  bench_events events;
  events.on_group = [&](const group&, std::span<const measured> rows) {
    seen.insert(seen.end(), rows.begin(), rows.end());
  };
  run_bench(std::span(&wrong, 1), {}, events);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].result.state, record::status::failed);
  EXPECT_EQ(seen[0].result.reason,
            "the definition's result begins 2 7 16 30 50, but the document's begins 2 7 16 30 51");
  EXPECT_FALSE(seen[0].result.timing);
}

TEST(Seeds, RecordsSayWhatTheyRepeat) {
  const outcome sum = bench({"reduce", "--preset", "seeds", "--variant", "reduce/serial"}, "8");
  EXPECT_EQ(sum.exit_code, 0);
  const auto& r = record_of(sum, "reduce/serial");
  EXPECT_EQ(r["case"]["data"], "seeds");
  EXPECT_EQ(r["case"]["group"], "reduce.i32 n=8 op=sum init=none data=seeds @cpu");
  EXPECT_EQ(r["experiment"]["first_outputs"], "36");
  EXPECT_TRUE(r["experiment"]["published"].empty());
  EXPECT_TRUE(is_valid(sum.file));
  const outcome product =
      bench({"polymul", "--preset", "seeds", "--variant", "polymul/cpu:naive", "--device", "cpu:serial"}, "4096");
  EXPECT_EQ(product.exit_code, 0);
  for (const auto& row : product.records)
    if (row["device"]["name"] == "cpu:serial" && row["case"]["algorithm"] == "polymul") {
      EXPECT_EQ(row["experiment"]["published"][0]["ns"], 4008400.0);
      EXPECT_EQ(row["experiment"]["of_problem"].size(), 5u) << "all of the problem's, whatever ran";
      EXPECT_EQ(row["experiment"]["system"], "naive CPU, sequential");
      EXPECT_NE(row["experiment"]["differs"].get<std::string>().find("64-bit sums"), std::string::npos);
    }
  EXPECT_TRUE(is_valid(product.file));
}

/// A measured row with 8 coefficients on the CPU, and a whole run.
std::vector<measured> measured_with(decltype(measured_size::course) course, bool is_of_programs = false) {
  experiment planted = polynomials();
  planted.sizes = {{{8, 8}, "", {}, course, 0, is_of_programs}};
  measuring how;
  how.rule.max_ns = how.rule.min_ns = 1e6;
  const registry::problem p = planted.problem(planted.sizes.front());
  const auto on = backend::find_device("cpu:serial", {});
  group all{p, "cpu", {}, &planted};
  for (const registry::variant* v : registry::variants_of(*p.what))
    if (registry::unsupported_reason(*v, p, *on, registry::default_tuning(v->tuning)).empty())
      all.rows.push_back({v, on, registry::default_tuning(v->tuning)});
  all.rows.push_back({limits_of(p, "cpu").front(), on});
  std::vector<measured> seen;
  bench_events events;
  events.on_group = [&](const group&, std::span<const measured> rows) {
    seen.insert(seen.end(), rows.begin(), rows.end());
  };
  run_bench(std::span(&all, 1), how, events);
  for (measured& m : seen) {
    EXPECT_TRUE(m.is_ok()) << m.result.reason.value_or("");
    m.from = nullptr;  // whose lifetime ends here
    m.published.clear();
  }
  return seen;
}

using goes_on = std::function<bool()>;

record::moment moment_of(std::uint64_t step) {
  return {step, 1.5, 0.25, "0123456789abcdef", "0123456789abcdef", "AQ=="};
}

TEST(SeedsCourse, IsOfTheFastestRowWithTheBitsAndInItsRecord) {
  const std::vector<measured> seen =
      measured_with([](const registry::choice& how, backend::queue&, const goes_on& more, record::course& course) {
        EXPECT_EQ(how.variant->order, registry::claim::tilewise);
        EXPECT_TRUE(more());
        course.moments = {moment_of(0), moment_of(7)};
      });
  const scratch_folder folder;
  const std::string file = folder.path() / "course.jsonl";
  record::record_file out(file);
  std::size_t runs = 0;
  for (measured m : seen) {
    describe_session({}).sign(m.result);
    out.write(m.result);
    if (!m.result.course) continue;
    ++runs;
    for (const measured& other : seen)
      if (!other.result.what.is_limit() && other.result.what.order == registry::claim::tilewise) {
        EXPECT_LE(m.time()->median_ns, other.time()->median_ns);
      }
    EXPECT_EQ(m.result.course->moments.size(), 2u);
    EXPECT_FALSE(m.result.course->stopped);
  }
  EXPECT_EQ(runs, 1u);
  EXPECT_TRUE(is_valid(file));
}

TEST(SeedsCourse, ThatOfProgramsIsTakenByEachOfThemAndByNoOther) {
  std::size_t programs = 0;
  for (const measured& m : measured_with([](const registry::choice&, backend::queue&, const goes_on&,
                                            record::course& course) { course.moments = {moment_of(7)}; },
                                         true)) {
    const bool is_program = !m.result.what.is_limit() && m.result.experiment->system;
    EXPECT_EQ(m.result.course.has_value(), is_program) << m.result.what.variant;
    programs += is_program;
  }
  EXPECT_GT(programs, 1u);
}

TEST(SeedsCourse, AFailureCostsNeitherTheTimesNorTheMomentsBeforeIt) {
  for (const measured& m :
       measured_with([](const registry::choice&, backend::queue&, const goes_on&, record::course& course) {
         course.moments = {moment_of(0)};
         throw std::bad_alloc();
       })) {
    EXPECT_NE(m.time(), nullptr);
    if (!m.result.course) continue;
    EXPECT_EQ(m.result.course->moments.size(), 1u);
    EXPECT_EQ(m.result.course->stopped, "std::bad_alloc");
  }
}

const experiment& diffusion() {
  return *std::find_if(cli::documents().begin(), cli::documents().end(),
                       [](const experiment& e) { return e.algorithm == "diffuse"; });
}

/// The first moments of a size's course, on the CPU.
record::course course_of(const measured_size& size, std::size_t moments) {
  const auto on = backend::find_device("cpu", {});
  record::course course;
  size.course(
      registry::choose(diffusion().problem(size), *on), on->queue(), [&] { return course.moments.size() < moments; },
      course);
  EXPECT_EQ(course.moments.size(), moments) << "it ends as soon as it is told to";
  return course;
}

/// The hash must be the original program's. The residual depends on a function of libm.
TEST(SeedsCourse, TheFieldIsTheOriginals) {
  const record::course course = course_of(diffusion().sizes[1], 2);
  EXPECT_FALSE(course.is_log());
  const record::moment& m = course.moments.at(1);
  EXPECT_EQ(m.step, 1000u);
  EXPECT_EQ(m.simulated_time, 1000.0);
  EXPECT_EQ(m.hash, "9d18d00e99191154");
  EXPECT_NEAR(*m.residual, 2.95750328606855e-05, 1e-12);
  EXPECT_EQ(course.moments[0].residual, 0.0);
  EXPECT_GT(m.picture_png.size(), 1000u);
}

/// The document has figures of grids 1 and 4: a step of grid 1 is 4 units of simulated time.
TEST(SeedsCourse, ALogHasTheTimeOfTheStepsUpToEachMoment) {
  const record::course course = course_of(diffusion().sizes[0], 3);
  EXPECT_TRUE(course.is_log());
  double last = 0;
  for (const record::moment& m : course.moments) {
    EXPECT_EQ(m.simulated_time, 4.0 * static_cast<double>(*m.step));
    EXPECT_GT(m.run_ns.value_or(0), last);
    last = m.run_ns.value_or(0);
  }
  EXPECT_TRUE(diffusion().sizes[0].is_course_of_programs && diffusion().sizes[3].is_course_of_programs);
}

/// A row of the document's large product. One call took so long that there is only one sample.
measured row_of(const std::string& id, const std::string& place, double ns) {
  const registry::extents large{65536, 65536};
  measured m;
  m.from = &polynomials();
  m.place = place;
  m.published = figures_of(*m.from, large, id, place);
  record::result& r = m.result;
  r.what.algorithm = "polymul";
  r.what.variant = id;
  r.what.dtype = "i32";
  r.what.shape = {65536, 65536};
  r.experiment.emplace();
  r.experiment->document = m.from->document;
  r.experiment->baseline = m.from->baseline;
  r.experiment->first_outputs = m.from->at(large)->first_outputs;
  r.verify.emplace().ok = true;
  r.timing.emplace().kernel = clock_of({.calls_per_sample = 1, .ns = {ns}, .failure = {}});
  return m;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

/// Replaces several spaces by one, to compare the order of columns and not their width.
std::string squeezed(std::string text) {
  const auto is_run = [](char a, char b) { return a == ' ' && b == ' '; };
  text.erase(std::unique(text.begin(), text.end(), is_run), text.end());
  return text;
}

TEST(SeedsTable, EachFigureStandsBesideTheClockItWasTakenWith) {
  measured gpu = row_of("polymul/opencl:global", "opencl:0", 2e6);
  gpu.result.timing->round_trip =
      clock_of({.calls_per_sample = 1, .ns = std::vector<double>(10, 13.468e6), .failure = {}});
  measured refused = row_of("polymul/opencl:local", "opencl:0", 1);
  refused.result.verify.reset();
  refused.end(record::status::skipped,
              "both factors need 524288 bytes of local memory, and one work-group of this device has 49152");
  const std::string wide = cli::seeds_block({row_of("polymul/cpu:naive", "cpu:threads", 50e6),
                                             row_of("polymul/cpu:naive", "cpu:serial", 100e6), gpu, refused});
  const std::string block = squeezed(wide);
  EXPECT_TRUE(has(block, "the result begins 2 7 16 30 50, as published\n")) << block;
  EXPECT_TRUE(has(block, "speedup: over cpu:naive @cpu:serial\n")) << block;
  EXPECT_TRUE(has(block, "cpu:naive @cpu:threads 50.0 ms n=1 2.00x ~2,581.95 ms g 51.6x =\n")) << block;
  EXPECT_TRUE(has(block, "opencl:global @opencl:0 2.00 ms n=1 50.0x =\n")) << block;
  EXPECT_TRUE(has(block, " with transfers 13.5 ms 0% 7.43x 134.68 ms c 10.0x\n")) << block;
  EXPECT_TRUE(has(block, " elsewhere ~18,248.7 ms f 182x\n")) << block;
  EXPECT_TRUE(has(block, "49152\n")) << "the reason is whole\n" << block;
  EXPECT_TRUE(has(block, "141.91 ms d\n")) << "published, though not measured here\n" << block;
  EXPECT_TRUE(has(block, "j naive, MPI, 1 process ")) << block;
  std::istringstream lines(cli::seeds_heading() + wide);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
}

TEST(SeedsTable, ARunFromTheStartIsTold) {
  measured m = row_of("polymul/cpu:naive", "cpu:serial", 1e6);
  record::course& course = m.result.course.emplace();
  course.moments = {moment_of(0), moment_of(10000), moment_of(20000)};
  course.moments.front().published_hash.reset();
  course.moments.back().published_hash.reset();
  EXPECT_TRUE(has(cli::seeds_block({m}),
                  "  the field from its start, by cpu:naive @cpu:serial\n"
                  "    step 10,000, residual 0.250, hash 0123456789abcdef, as the original\n"
                  "    step 20,000, residual 0.250, hash 0123456789abcdef\n"))
      << cli::seeds_block({m});
  course.moments[1].hash = "fedcba9876543210";
  course.stopped = "Ctrl-C";
  EXPECT_TRUE(has(cli::seeds_block({m}), ", hash fedcba9876543210, NOT as the original\n")) << cli::seeds_block({m});
  EXPECT_TRUE(has(cli::seeds_block({m}), "\n    ended there: Ctrl-C\n")) << cli::seeds_block({m});
  EXPECT_TRUE(course.differs_from_document());
}

TEST(SeedsTable, ADocumentsProgramWithTheDefinitionsBitsIsMarkedSo) {
  measured m = row_of("polymul/cpu:naive", "cpu:serial", 50e6);
  m.result.what.order = registry::claim::own;
  m.result.verify->digest = std::string(32, '1');
  m.result.verify->reference_digest = std::string(32, '2');
  EXPECT_TRUE(has(squeezed(cli::seeds_block({m})), " ~\n")) << cli::seeds_block({m});
  m.result.verify->digest = m.result.verify->reference_digest;
  EXPECT_TRUE(has(squeezed(cli::seeds_block({m})), " =\n")) << cli::seeds_block({m});
}

TEST(SeedsTable, WithoutTheBaselineThereIsNoSpeedup) {
  const std::string block = squeezed(cli::seeds_block({row_of("polymul/serial", "cpu", 50e6)}));
  EXPECT_TRUE(has(block, "no speedup: polymul/cpu:naive was not measured\n")) << block;
  EXPECT_TRUE(has(block, "serial @cpu 50.0 ms n=1 1085.05 ms a 21.7x =\n")) << block;
}

TEST(SeedsTable, ItsInputsAreNamedWhereItHasSeveral) {
  experiment sorted = polynomials();
  sorted.data = "sorted";
  measured m = row_of("polymul/serial", "cpu", 50e6);
  EXPECT_TRUE(has(cli::seeds_block({m}), "  its inputs; the result begins"));
  m.from = &sorted;
  EXPECT_TRUE(has(cli::seeds_block({m}), "  its inputs, sorted; the result begins")) << cli::seeds_block({m});
}

/// The table marks figures with letters.
TEST(SeedsTable, TheAlphabetIsEnoughForTheFiguresOfASize) {
  for (const experiment& e : cli::documents())
    for (const measured_size& size : e.sizes)
      EXPECT_LE(
          std::count_if(e.figures.begin(), e.figures.end(), [&](const figure& f) { return f.shape == size.shape; }),
          'z' - 'a' + 1)
          << e.document;
}

TEST(SeedsTable, WhatHasNoRowHasAReason) {
  request wanted;
  wanted.base = find_preset("seeds");
  wanted.documents = cli::documents();
  wanted.selectors = {"scan"};
  wanted.devices = {backend::find_device("cpu:serial", {})};
  const auto missing = left_out(make_plan(wanted), wanted);
  for (const registry::variant* v : registry::variants_of(registry::find_algorithm("scan"))) {
    const bool is_told =
        std::any_of(missing.begin(), missing.end(), [&](const auto& entry) { return entry.first == v->id(); });
    EXPECT_EQ(is_told, v->backend == "opencl" || v->backend == "cuda" || v->backend == "group") << v->id();
  }
  const auto built = backend::runtimes();
  const bool has_opencl = std::any_of(built.begin(), built.end(), [](const auto& r) { return r.name == "opencl"; });
  EXPECT_EQ(has(cli::seeds_left_out(missing), "  no opencl device was found or asked for\n    scan/opencl:"),
            has_opencl);
}

}  // namespace
}  // namespace tilewise::lab
