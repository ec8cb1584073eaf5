// SPDX-License-Identifier: Apache-2.0
// tilewise diffuse: runs the diffusion benchmark from its parameter file, and writes its pictures, tables and
// checkpoints.
#include "base/number.hpp"
#include "call/execute.hpp"
#include "lab/plan/problems.hpp"
#include "lab/verify/verify.hpp"
#include "tool/arrays/data_command.hpp"
#include "tool/arrays/file.hpp"
#include "tool/diffuse/run.hpp"
#include "tool/interrupt.hpp"
#include "tool/output.hpp"
#include "tool/ranks/agreement.hpp"

#include <cmath>
#include <optional>
#include <set>

namespace tilewise::cli {

namespace {

struct diffuse_request {
  common_options common;
  std::string file, output, grid, spacing;
  std::optional<unsigned> mask;
  std::optional<std::uint64_t> steps, every;
  std::optional<double> diffusivity, stability;
  std::string type = "f64";
  bool resume = false, allow_unstable = false;
};

/// "AxB"
template <class T>
void take_pair(const std::string& option, const std::string& text, dtype type, T& first, T& second) {
  if (text.empty()) return;
  const auto x = text.find('x');
  if (x == text.npos)
    throw error(errc::invalid_argument, option + " is '" + text + "'; write two numbers, such as 512x512");
  first = base::parse_number(std::string_view(text).substr(0, x), type).as<T>();
  second = base::parse_number(std::string_view(text).substr(x + 1), type).as<T>();
}

hiperc::parameters parameters_of(const diffuse_request& request) {
  hiperc::parameters p = request.file.empty() ? hiperc::parameters{} : hiperc::read_parameters(request.file);
  take_pair("--grid", request.grid, dtype::u64, p.nx, p.ny);
  take_pair("--spacing", request.spacing, dtype::f64, p.dx, p.dy);
  if (request.mask) p.mask = *request.mask;
  if (request.steps) p.ns = *request.steps;
  if (request.every) p.nc = *request.every;
  if (request.diffusivity) p.dc = *request.diffusivity;
  if (request.stability) p.co = *request.stability;
  return p;
}

/// Prints the hash and residual of the last step, or everything for --json.
void tell_result(const diffuse_request& request, const hiperc::run& done, const device_handle& device,
                 const registry::problem& p, const registry::choice& how) {
  const hiperc::snapshot& end = done.now();
  if (request.common.verbose) note(how.variant->id() + " on " + device->info().name + ": " + how.reason);
  if (!request.common.json) {
    print("hash " + hash_of(end) + ", residual " + base::to_string(base::scalar_value::of(done.residual())) + "\n");
    return;
  }
  const std::array<std::uint64_t, 2> shape{p.shape[0], p.shape[1]};
  nlohmann::ordered_json fields = describe(p, device, how, shape, lab::digest_of(end.field));
  fields["kernel_ns"] = std::llround(done.stepping_s() * 1e9);
  fields["steps"] = end.step;
  fields["hash"] = hash_of(end);
  fields["residual"] =
      std::isfinite(done.residual()) ? nlohmann::ordered_json(done.residual()) : nlohmann::ordered_json();
  print_fields(std::move(fields), request.output);
}

/// What ranks must agree on for a whole run, beside the problem between two outputs.
std::string course_of(const hiperc::snapshot& from) {
  const hiperc::parameters& p = from.parameters;
  return ", step " + std::to_string(from.step) + " to " + std::to_string(p.ns) + ", every " + std::to_string(p.nc) +
         ", dc=" + base::to_hex(base::scalar_value::of(p.dc));
}

exit_code complete(const diffuse_request& request, const hiperc::output_folder& folder, hiperc::beginning from) {
  const registry::problem p = problem_between_outputs(from.shot.parameters, from.shot.type);
  const device_handle device = open_device(request.common);
  require_same_problem(p, course_of(from.shot));
  const registry::choice how =
      registry::choose(p, *device, {request.common.variant, request.common.tuning, request.common.fast});
  hiperc::run run(std::move(from), folder, how, device->queue());
  const auto goes_on = [&] {
    const std::uint64_t step = run.now().step, last = run.now().parameters.ns;
    if (!request.common.quiet)
      progress("step " + std::to_string(step) + " of " + std::to_string(last) + ", " +
               std::to_string(std::llround(std::ceil(run.seconds_left()))) + " s left");
    return !interrupt_requested();
  };
  if (run.complete(goes_on)) {
    tell_result(request, run, device, p, how);
    return exit_code::ok;
  }
  return fail("interrupted", exit_code::interrupted,
              "stopped after step " + std::to_string(run.now().step) + "; --resume continues");
}

/// Checks files that would be overwritten: their names are the run's own, but links may point anywhere.
void refuse_lost_files(const diffuse_request& request, const hiperc::output_folder& folder) {
  const std::set<std::string> files = folder.files();
  std::vector<std::string> outputs(files.begin(), files.end());
  outputs.emplace_back(io::standard_stream);
  for (const std::string& output : outputs) refuse_overwriting(request.file, output);
  require_distinct_outputs(outputs);
}

exit_code diffuse_file(const diffuse_request& request) {
  const hiperc::parameters p = parameters_of(request);
  const dtype type = request.type.ends_with("32") ? dtype::f32 : dtype::f64;
  require_room(p, type);
  call::admit(p.problem(p.ns, type), {.allow_unstable = true});
  if (!request.allow_unstable) require_stable(p);
  const hiperc::output_folder folder(request.output);
  refuse_lost_files(request, folder);
  hiperc::beginning from = begin_run(p, type, folder, request.resume);
  take_interrupts();
  return complete(request, folder, std::move(from));
}

CLI::Validator positive_number() {
  return CLI::Validator(
      [](const std::string& text) {
        double value = 0;
        return hiperc::take_positive(text, value) ? "" : "'" + text + "' is not " + hiperc::positive_words;
      },
      "");
}

void add_problem_options(CLI::App& command, diffuse_request& to) {
  add_file_option(command, "PARAMS.txt", to.file, "the original's parameter file, instead of its defaults", " ");
  add_file_option(command, "-o,--output", to.output, "the folder for all files; required", "DIR")->required();
  command.add_option("--grid", to.grid, "points including ghosts, such as 512x512")->option_text("NXxNY");
  command.add_option("--spacing", to.spacing, "distances between points, such as 0.5x0.5")->option_text("DXxDY");
  command.add_option("--mask", to.mask, "the Laplacian's mask: 53, 93 or 95")
      ->option_text("CODE")
      ->check(CLI::IsMember({53, 93, 95}));
  command.add_option("--steps", to.steps, "time steps")->option_text("N")->check(whole_number(0, lab::most_elements));
  command.add_option("--every", to.every, "steps between two outputs")
      ->option_text("N")
      ->check(whole_number(1, lab::most_elements));
  command.add_option("--diffusivity", to.diffusivity, "dc in the file")->option_text("D")->check(positive_number());
  command.add_option("--stability", to.stability, "co in the file: time step * 4 D / shorter distance^2")
      ->option_text("CO")
      ->check(positive_number());
  command.add_option("--dtype", to.type, "f64 like the original, or f32")
      ->option_text("TYPE")
      ->check(CLI::IsMember({"f32", "f64", "float32", "float64"}));
  command.add_flag("--allow-unstable", to.allow_unstable, "compute even with an unstable time step");
  command.add_flag("--resume", to.resume, "continue from the checkpoint in DIR");
}

}  // namespace

void add_diffuse(CLI::App& app, invocation& call) {
  CLI::App* command = app.add_subcommand("diffuse", "the HiPerC diffusion benchmark, bit for bit");
  auto request = std::make_shared<diffuse_request>();
  add_problem_options(*command, *request);
  add_device_options(*command, request->common);
  add_variant_options(*command, request->common);
  add_output_options(*command, request->common);
  command->footer(
      "Options override the file. Each output writes to DIR diffusion.STEP.png in grey\n"
      "and .colour.png, the field without ghosts as .npy, runlog.csv, checkpoint.json,\n"
      "and at the end diffusion.STEP.csv. A stopped run, even after Ctrl-C, continues\n"
      "with --resume to the same bits. bx and by in the file have no effect here.\n"
      "\n"
      "Examples:\n"
      "  tilewise diffuse params.txt -o out\n"
      "  tilewise diffuse --grid 64x64 --mask 93 --steps 1000 --every 100 -o new --json\n"
      "  tilewise diffuse params.txt -o out --resume --device opencl:0");
  command->callback([&call, request] { call.run = [request] { return diffuse_file(*request); }; });
}

}  // namespace tilewise::cli
