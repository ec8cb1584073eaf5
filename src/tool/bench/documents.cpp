// SPDX-License-Identifier: Apache-2.0
#include "tool/bench/documents.hpp"

#include "io/base64.hpp"
#include "lab/bench/agreement.hpp"
#include "record/published.hpp"
#include "tool/diffuse/stepper.hpp"

namespace tilewise::hiperc {

namespace {

/// Grid k has 256 k points a side with the ghosts, at a distance of 1/k, and takes 25000 k^2 steps to the same
/// simulated time.
constexpr std::uint64_t measured_steps = 100;
constexpr double all_steps(std::uint64_t k) { return 25000.0 * static_cast<double>(k * k); }
constexpr std::uint64_t own_grid = 2;  // that of the benchmark's own parameter file
constexpr registry::extents grid(std::uint64_t k) { return {256 * k - 2, 256 * k - 2, measured_steps}; }

/// Its parameters: side 256 and the same simulated time for each k.
parameters parameters_of(std::uint64_t k) {
  parameters of;
  of.nx = of.ny = 256 * k;
  of.dx = of.dy = 1.0 / static_cast<double>(k);
  of.ns = 25000 * k * k;
  return of;
}

lab::measured_size size(std::uint64_t k, decltype(lab::measured_size::course) course = nullptr) {
  const double distance = parameters_of(k).dx;
  const auto number = [](double value) { return base::scalar_value::of(value); };
  return {grid(k),
          "",
          {number(distance), number(distance), number(0.1 * distance * distance / 4)},
          course,
          all_steps(k) / measured_steps,
          k != own_grid};
}

/// The benchmark with its own parameter file, which is grid 2. All its steps take a tenth of a second on a large GPU
/// and ten seconds on two cores. A device that would take longer than this limit stops at the step of the reference
/// hash, or later. That is the hash of HiPerC's own serial program at this step (diffuse/README.md).
constexpr int longest_course_s = 20;
constexpr std::uint64_t reference_step = 10000;
constexpr std::string_view reference_hash = "cd54c0a3e36a00b0";

void run_course(const registry::choice& how, backend::queue& queue, const std::function<bool()>& goes_on,
                record::course& course) {
  static const io::palette colours = io::perceptual_palette();
  stepper field(start_of({}, dtype::f64), how, queue);
  const snapshot& now = field.now();
  course.hash_function = hash_function;
  for (const std::uint64_t step : {0, 1000, 2000, 5000, 10000, 20000, 50000, 100000}) {
    const double expected_steps =
        longest_course_s / lab::as_first_rank(field.seconds()) * static_cast<double>(now.step);
    if (step > reference_step && static_cast<double>(step) > expected_steps) {
      course.stopped =
          std::to_string(step) + " steps would take this device longer than " + std::to_string(longest_course_s) + " s";
      return;
    }
    field.advance(step, goes_on);
    if (now.step != step) return;
    course.moments.push_back({step, now.time, residual_of(now), hash_of(now),
                              step == reference_step ? record::maybe_text(reference_hash) : std::nullopt,
                              io::base64(io::encode_png(picture_of(now), &colours))});
  }
}

/// The times at some steps of a program's run, as the document's figures show them for grids 1 and 4. One run each: all
/// steps of the slowest would take two hours. A run ends before the step that it would reach later than this limit.
constexpr double longest_log_s = 2;

template <std::uint64_t k>
void run_log(const registry::choice& how, backend::queue& queue, const std::function<bool()>& goes_on,
             record::course& course) {
  const parameters of = parameters_of(k);
  stepper field(start_of(of, dtype::f64), how, queue);
  const snapshot& now = field.now();
  course.hash_function = hash_function;
  for (std::uint64_t decade = 10; now.step < of.ns; decade *= 10)
    for (const std::uint64_t step : {decade, 2 * decade, 5 * decade}) {
      const std::uint64_t stop = std::min(step, of.ns);
      const double taken = lab::as_first_rank(field.seconds());
      if (now.step > 0 && taken / static_cast<double>(now.step) * static_cast<double>(stop) > longest_log_s) {
        course.stopped = "step " + std::to_string(stop) + " would come later than " +
                         std::to_string(static_cast<int>(longest_log_s)) + " s";
        return;
      }
      field.advance(stop, goes_on);
      if (now.step != stop) return;
      course.moments.push_back({stop, now.time, residual_of(now), hash_of(now), {}, "", field.seconds() * 1e9});
      if (stop == of.ns) return;
    }
}

/// The inputs do not matter: the first step sets the strips.
call::host_operands inputs(const registry::problem& p) {
  return {lab::operand_of<double>(p.shape[0] * p.shape[1], [](std::uint64_t) { return 0.0; })};
}

/// The residual after the measured steps.
std::string residual(const registry::problem& p, const call::host_operands& expected) {
  parameters of;
  of.nx = p.shape[1] + 2 * of.ghosts();
  of.ny = p.shape[0] + 2 * of.ghosts();
  of.dx = of.dy = 256.0 / static_cast<double>(of.nx);
  snapshot shot{of, dtype::f64, 0, 0, expected.front()};
  shot.count(p.shape[2]);
  return base::to_string(base::scalar_value::of(residual_of(shot)));
}

/// Its program rewritten as a peer, if there is one, and our variant.
constexpr std::array<lab::counterpart, 6> counterparts{
    {{"CPU: Serial, of all steps the share of 100", {"diffuse/cpu:hiperc @*", "diffuse/serial @*"}},
     {"GPU: OpenAcc, of all steps the share of 100", {"diffuse/openacc* @*", ""}},
     {"CPU: TBB, of all steps the share of 100", {"diffuse/cpu:hiperc_tbb @*", "diffuse/cpu:fused @cpu:tbb"}},
     {"CPU: OpenMP, of all steps the share of 100", {"diffuse/cpu:hiperc_openmp @*", "diffuse/cpu:fused @cpu:openmp"}},
     {"GPU: OpenCL, of all steps the share of 100", {"diffuse/opencl:hiperc @*", "diffuse/opencl:tiles @*"}},
     {"GPU: CUDA, of all steps the share of 100", {"diffuse/cuda:hiperc @*", "diffuse/cuda:tiles @*"}}}};

/// The document's times are of all steps.
std::vector<lab::figure> figures() {
  std::vector<lab::figure> list = lab::published_figures(record::diffusion_document, counterparts);
  for (std::uint64_t k = 1; k <= 4; ++k)
    for (lab::figure& f : list)
      if (f.shape == grid(k)) f.ns *= measured_steps / all_steps(k);
  return list;
}

/// HiPerC's diffusion benchmark: grids of 256 k points a side, in serial code, on threads and on GPUs.
lab::experiment experiment() {
  return {.algorithm = "diffuse",
          .document = record::diffusion_document,
          .baseline = "diffuse/cpu:hiperc_openmp",
          .baseline_device = "cpu",
          .type = dtype::f64,
          .sizes = {size(1, run_log<1>), size(own_grid, run_course), size(3), size(4, run_log<4>)},
          .inputs = inputs,
          .figures = figures(),
          .methods = {{"CPU: Serial", "diffuse/cpu:hiperc @*"},
                      {"CPU: OpenMP", "diffuse/cpu:hiperc_openmp @*"},
                      {"CPU: TBB", "diffuse/cpu:hiperc_tbb @*"},
                      {"GPU: OpenAcc", "diffuse/openacc @*", "boundaries, mask and update in one kernel"},
                      {"GPU: OpenCL", "diffuse/opencl:hiperc @*"},
                      {"GPU: CUDA", "diffuse/cuda:hiperc @*"}},
          .check = {"residual", residual}};
}

}  // namespace

}  // namespace tilewise::hiperc

namespace tilewise::cli {

std::span<const lab::experiment> documents() {
  static const std::vector<lab::experiment> all = [] {
    std::vector<lab::experiment> list(lab::experiments().begin(), lab::experiments().end());
    list.push_back(hiperc::experiment());
    return list;
  }();
  return all;
}

}  // namespace tilewise::cli
