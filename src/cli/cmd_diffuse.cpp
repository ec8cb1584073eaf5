// tilewise diffuse: the diffusion benchmark from its parameter file to its pictures, tables and checkpoints.
#include "cli/data_command.hpp"
#include "cli/diffuse_output.hpp"
#include "cli/diffuse_parameters.hpp"
#include "cli/interrupt.hpp"
#include "cli/output.hpp"
#include "diffuse/diffuse_problem.hpp"
#include "io/host_memory.hpp"
#include "io/number.hpp"
#include "io/png.hpp"
#include "lab/diffuse_stepper.hpp"
#include "registry/execute.hpp"

#include <chrono>
#include <cmath>
#include <optional>

namespace tilewise::cli {

using lab::diffuse_parameters;
using lab::diffuse_state;

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
  first = io::parse_number(std::string_view(text).substr(0, x), type).as<T>();
  second = io::parse_number(std::string_view(text).substr(x + 1), type).as<T>();
}

diffuse_parameters parameters_of(const diffuse_request& request) {
  diffuse_parameters p = request.file.empty() ? diffuse_parameters{} : read_parameters(request.file);
  take_pair("--grid", request.grid, dtype::u64, p.nx, p.ny);
  take_pair("--spacing", request.spacing, dtype::f64, p.dx, p.dy);
  if (request.mask) p.mask = *request.mask;
  if (request.steps) p.ns = *request.steps;
  if (request.every) p.nc = *request.every;
  if (request.diffusivity) p.dc = *request.diffusivity;
  if (request.stability) p.co = *request.stability;
  return p;
}

void refuse_unstable(const diffuse_parameters& p) {
  const double limit = p.largest_stable_co();
  const auto text = [](double value) { return io::to_text(registry::scalar_value::of(value)); };
  if (p.co > limit)
    throw error(errc::invalid_argument, "co = " + text(p.co) + " is unstable with mask " + std::to_string(p.mask) +
                                            ": the limit is " + text(limit) +
                                            "; take a smaller one, or --allow-unstable");
}

void refuse_too_large(const diffuse_parameters& p, dtype type) {
  const diffusion d = p.problem(0);
  io::require_picture(p.nx - 2, p.ny - 2);  // the original leaves out one ring of points
  const std::uint64_t points = d.rows * d.columns;
  // The field; two more and a workspace, which the pool keeps, on a CPU device; a picture, and its file with room for
  // what does not compress.
  const std::uint64_t bytes = points * (4 * size_of(type) + 3);
  io::require_host_memory(bytes, "a grid of " + std::to_string(p.nx) + "x" + std::to_string(p.ny) +
                                     " points and its files need " + std::to_string(bytes) + " bytes");
}

/// What the variant is chosen for: each output ends a call.
std::uint64_t most_steps_at_once(const diffuse_parameters& p) { return std::min(p.ns, p.nc); }

/// Seconds that add up over the parts of a run.
class stopwatch {
 public:
  template <class F>
  void time(F&& f) {
    const auto start = std::chrono::steady_clock::now();
    f();
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  double seconds = 0;
};

/// One run, from its start or a checkpoint to its last output.
class diffuse_run {
 public:
  diffuse_run(const diffuse_request& request, diffuse_folder folder, diffuse_state start, std::vector<runlog_row> rows)
      : request_(request),
        folder_(std::move(folder)),
        rows_(std::move(rows)),
        problem_(impl::diffuse::problem_of(start.parameters.problem(most_steps_at_once(start.parameters)), start.type)),
        device_(open_device(request.common)),
        how_(
            registry::choose(problem_, *device_, {request.common.variant, request.common.tuning, request.common.fast})),
        first_step_(start.step),
        stepper_(std::move(start), how_, device_->queue()) {
    if (rows_.empty()) return;
    steps_before_ = rows_.back().steps_s, files_.seconds = rows_.back().files_s;
    residuals_.seconds = rows_.back().residuals_s, before_ = rows_.back().all_s;
  }

  exit_code run() {
    const diffuse_parameters& p = state().parameters;
    rows_.empty() ? report() : keep();
    while (state().step < p.ns && !interrupt_requested()) {
      const std::uint64_t stop = std::min(p.ns, (state().step / p.nc + 1) * p.nc);
      stepper_.advance(stop, [this] {
        show_progress();
        return !interrupt_requested();
      });
      if (state().step == stop) report();
    }
    if (state().step < p.ns) {
      folder_.write_checkpoint(state(), rows_);
      note("tilewise: stopped after step " + std::to_string(state().step) + "; --resume goes on");
      return exit_code::interrupted;
    }
    if (rows_.back().step != state().step) report();  // resumed, with nothing left to do
    folder_.write_table(state());
    tell_result();
    return exit_code::ok;
  }

 private:
  const diffuse_state& state() const { return stepper_.state(); }
  double steps_s() const { return steps_before_ + stepper_.seconds(); }
  double since_start_s() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
  }

  void show_progress() const {
    if (request_.common.quiet) return;
    const auto done = static_cast<double>(state().step - first_step_);
    const auto left = static_cast<double>(state().parameters.ns - state().step);
    progress("step " + std::to_string(state().step) + " of " + std::to_string(state().parameters.ns) + ", " +
             std::to_string(std::llround(std::ceil(since_start_s() / done * left))) + " s left");
  }

  /// Everything that the original writes between steps, and a checkpoint.
  void report() {
    double residual = 0;
    residuals_.time([&] { residual = residual_of(state()); });
    files_.time([&] { folder_.write_pictures(state()); });
    rows_.push_back({state().step, state().time, residual, steps_s(), files_.seconds, residuals_.seconds,
                     before_ + since_start_s()});
    keep();
  }

  /// What --resume needs. A resumed run begins with it: a folder that cannot be written is told before any step.
  void keep() {
    files_.time([&] {
      folder_.write_runlog(rows_);
      folder_.write_checkpoint(state(), rows_);
    });
  }

  void tell_result() const {
    if (request_.common.verbose) note(how_.variant->id() + " on " + device_->info().name + ": " + how_.reason);
    const double residual = rows_.back().residual;
    if (!request_.common.json) {
      print("hash " + hash_of(state()) + ", residual " + io::to_text(registry::scalar_value::of(residual)) + "\n");
      return;
    }
    const std::array<std::uint64_t, 2> shape{problem_.shape[0], problem_.shape[1]};
    nlohmann::ordered_json fields = describe(problem_, device_, how_, shape, state().field);
    fields["kernel_ns"] = std::llround(stepper_.seconds() * 1e9);
    fields["steps"] = state().step;
    fields["hash"] = hash_of(state());
    fields["residual"] = std::isfinite(residual) ? nlohmann::ordered_json(residual) : nlohmann::ordered_json();
    print_fields(std::move(fields), folder_.path());
  }

  const diffuse_request& request_;
  diffuse_folder folder_;
  std::vector<runlog_row> rows_;
  registry::problem problem_;
  device_handle device_;
  registry::choice how_;
  std::uint64_t first_step_;
  lab::diffuse_stepper stepper_;
  stopwatch files_, residuals_;
  double steps_before_ = 0, before_ = 0;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

exit_code diffuse_file(const diffuse_request& request) {
  const diffuse_parameters p = parameters_of(request);
  const dtype type = request.type == "f32" ? dtype::f32 : dtype::f64;
  refuse_too_large(p, type);
  registry::check(impl::diffuse::problem_of(p.problem(p.ns), type));
  if (!request.allow_unstable) refuse_unstable(p);
  std::vector<runlog_row> rows;
  const diffuse_folder folder(request.output);
  if (!request.resume) folder.require_no_progress();
  diffuse_state state = request.resume ? folder.read_checkpoint(p, type, rows) : lab::start_of(p, type);
  if (state.step > p.ns)
    throw error(errc::invalid_argument, "the checkpoint is of step " + std::to_string(state.step) + ", beyond the " +
                                            std::to_string(p.ns) + " asked for; give --steps");
  take_interrupts();
  return diffuse_run(request, folder, std::move(state), std::move(rows)).run();
}

CLI::Validator positive_number() {
  return CLI::Validator(
      [](const std::string& text) {
        double value = 0;
        return take_positive(text, value) ? "" : "'" + text + "' is not " + positive_words;
      },
      "");
}

void add_problem_options(CLI::App& command, diffuse_request& to) {
  command.add_option("PARAMS.txt", to.file, "the original's parameter file, instead of its defaults")->option_text(" ");
  command.add_option("-o,--output", to.output, "the folder for all files, always needed")
      ->option_text("DIR")
      ->required();
  command.add_option("--grid", to.grid, "points with their ghosts, such as 512x512")->option_text("NXxNY");
  command.add_option("--spacing", to.spacing, "distances of points, such as 0.5x0.5")->option_text("DXxDY");
  command.add_option("--mask", to.mask, "of the Laplacian: 53, 93 or 95")
      ->option_text("CODE")
      ->check(CLI::IsMember({53, 93, 95}));
  command.add_option("--steps", to.steps, "time steps")->option_text("N")->check(whole_number(0, most_elements));
  command.add_option("--every", to.every, "steps between two outputs")
      ->option_text("N")
      ->check(whole_number(1, most_elements));
  command.add_option("--diffusivity", to.diffusivity, "dc of the file")->option_text("D")->check(positive_number());
  command.add_option("--stability", to.stability, "co of the file: time step * 4 D / shorter distance^2")
      ->option_text("CO")
      ->check(positive_number());
  command.add_option("--dtype", to.type, "f64 as the original, or f32")
      ->option_text("TYPE")
      ->check(CLI::IsMember({"f32", "f64"}));
  command.add_flag("--allow-unstable", to.allow_unstable, "compute with an unstable time step too");
  command.add_flag("--resume", to.resume, "go on from the checkpoint in DIR");
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
      "Options win over the file. DIR gets, each time, diffusion.STEP.png in grey and\n"
      ".colour.png, the field without ghosts as .npy, runlog.csv and checkpoint.json,\n"
      "at the end diffusion.STEP.csv. A run that was stopped, also by Ctrl-C, goes on\n"
      "with --resume to the same bits. bx and by of the file change nothing here.\n"
      "\n"
      "Examples:\n"
      "  tilewise diffuse params.txt -o out\n"
      "  tilewise diffuse --grid 64x64 --mask 93 --steps 1000 --every 100 -o new --json\n"
      "  tilewise diffuse params.txt -o out --resume --device opencl:0");
  command->callback([&call, request] { call.run = [request] { return diffuse_file(*request); }; });
}

}  // namespace tilewise::cli
