// tilewise diffuse: the diffusion benchmark from its parameter file to its pictures, tables and checkpoints.
#include "cli/data_command.hpp"
#include "cli/diffuse_output.hpp"
#include "cli/interrupt.hpp"
#include "cli/output.hpp"
#include "diffuse/diffuse_problem.hpp"
#include "io/host_memory.hpp"
#include "io/number.hpp"
#include "registry/execute.hpp"

#include <chrono>
#include <cmath>
#include <optional>

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
  if (std::max(p.nx, p.ny) > most_elements)
    throw error(errc::invalid_argument, "a grid of " + std::to_string(p.nx) + "x" + std::to_string(p.ny) +
                                            " points is more than any machine holds");
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

/// The field on its device; what is stepped next is always in the first of the two.
class stepper {
 public:
  stepper(const diffuse_request& request, const diffuse_state& state)
      : problem_(impl::diffuse::problem_of(state.parameters.problem(state.parameters.ns), state.type)),
        device_(open_device(request.common)),
        how_(
            registry::choose(problem_, *device_, {request.common.variant, request.common.tuning, request.common.fast})),
        now_(device_->queue(), state.field.size()),
        next_(device_->queue(), state.field.size()) {
    device_->queue().upload(now(), state.field.data(), state.field.size());
  }

  void advance(diffuse_state& state, std::uint64_t steps) {
    problem_.shape = {problem_.shape[0], problem_.shape[1], steps};
    registry::memories where;
    where.in[0] = now();
    where.out[0] = next();
    how_.variant->run(problem_, where, how_.tuning, device_->queue());
    device_->queue().finish();
    swapped_ = !swapped_;
    state.step += steps;
  }
  void download(diffuse_state& state) { device_->queue().download(state.field.data(), now(), state.field.size()); }

  const registry::problem& problem() const { return problem_; }
  const device_handle& device() const { return device_; }
  const registry::choice& how() const { return how_; }

 private:
  backend::memory now() const { return swapped_ ? next_ : now_; }
  backend::memory next() const { return swapped_ ? now_ : next_; }

  registry::problem problem_;
  device_handle device_;
  registry::choice how_;
  backend::buffer now_, next_;
  bool swapped_ = false;
};

/// One run: steps between outputs in parts so short that progress and Ctrl-C are prompt.
class diffuse_run {
 public:
  diffuse_run(const diffuse_request& request, diffuse_state state, std::vector<runlog_row> rows)
      : request_(request),
        folder_(request.output),
        state_(std::move(state)),
        rows_(std::move(rows)),
        stepper_(request, state_),
        first_step_(state_.step) {
    if (rows_.empty()) return;
    steps_.seconds = rows_.back().steps_s, files_.seconds = rows_.back().files_s;
    residuals_.seconds = rows_.back().residuals_s, before_ = rows_.back().all_s;
  }

  exit_code run() {
    const diffuse_parameters& p = state_.parameters;
    if (rows_.empty()) report();
    while (state_.step < p.ns && !interrupt_requested()) {
      const std::uint64_t stop = std::min(p.ns, (state_.step / p.nc + 1) * p.nc);
      advance_to(stop);
      stepper_.download(state_);
      if (state_.step == stop) report();
    }
    if (state_.step < p.ns) {
      folder_.write_checkpoint(state_, rows_);
      note("tilewise: stopped after step " + std::to_string(state_.step) + "; --resume goes on");
      return exit_code::interrupted;
    }
    if (rows_.back().step != state_.step) report();  // resumed, with nothing left to do
    folder_.write_table(state_);
    tell_result();
    return exit_code::ok;
  }

 private:
  static constexpr double part_s = 0.2;

  void advance_to(std::uint64_t stop) {
    while (state_.step < stop && !interrupt_requested()) {
      const double before = steps_.seconds;
      const std::uint64_t part = std::min(part_, stop - state_.step);
      steps_.time([&] { stepper_.advance(state_, part); });
      if (part == part_ && steps_.seconds - before < part_s / 2) part_ *= 2;
      if (part_ > 1 && steps_.seconds - before > 2 * part_s) part_ /= 2;
      show_progress();
    }
  }

  void show_progress() const {
    if (request_.common.quiet) return;
    const auto done = static_cast<double>(state_.step - first_step_);
    const auto left = static_cast<double>(state_.parameters.ns - state_.step);
    const double since = std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
    progress("step " + std::to_string(state_.step) + " of " + std::to_string(state_.parameters.ns) + ", " +
             std::to_string(std::llround(std::ceil(since / done * left))) + " s left");
  }

  /// Everything that the original writes between steps, and a checkpoint.
  void report() {
    double residual = 0;
    residuals_.time([&] { residual = residual_of(state_); });
    files_.time([&] { folder_.write_pictures(state_); });
    const double since = std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
    rows_.push_back(
        {state_.step, state_.elapsed(), residual, steps_.seconds, files_.seconds, residuals_.seconds, before_ + since});
    files_.time([&] {
      folder_.write_runlog(rows_);
      folder_.write_checkpoint(state_, rows_);
    });
  }

  void tell_result() const {
    if (request_.common.verbose)
      note(stepper_.how().variant->id() + " on " + stepper_.device()->info().name + ": " + stepper_.how().reason);
    const double residual = rows_.back().residual;
    if (!request_.common.json) {
      print("hash " + hash_of(state_) + ", residual " + io::to_text(registry::scalar_value::of(residual)) + "\n");
      return;
    }
    data_run run{.device = stepper_.device(), .how = stepper_.how(), .outputs = {state_.field}, .times = {}};
    run.times.kernel = steps_.seconds * 1e9;
    const std::array<std::uint64_t, 2> shape{stepper_.problem().shape[0], stepper_.problem().shape[1]};
    nlohmann::ordered_json fields = describe(stepper_.problem(), run, shape);
    fields["steps"] = state_.step;
    fields["hash"] = hash_of(state_);
    fields["residual"] = std::isfinite(residual) ? nlohmann::ordered_json(residual) : nlohmann::ordered_json();
    print_fields(std::move(fields), folder_.path());
  }

  const diffuse_request& request_;
  diffuse_folder folder_;
  diffuse_state state_;
  std::vector<runlog_row> rows_;
  stepper stepper_;
  std::uint64_t first_step_, part_ = 16;
  stopwatch steps_, files_, residuals_;
  double before_ = 0;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

exit_code diffuse_file(const diffuse_request& request) {
  const diffuse_parameters p = parameters_of(request);
  const dtype type = request.type == "f32" ? dtype::f32 : dtype::f64;
  registry::check(impl::diffuse::problem_of(p.problem(p.ns), type));
  if (!request.allow_unstable) refuse_unstable(p);
  const std::uint64_t bytes = p.problem(0).rows * p.problem(0).columns * size_of(type);
  io::require_host_memory(4 * bytes, "a grid of " + std::to_string(p.nx) + "x" + std::to_string(p.ny) +
                                         " points and its files need " + std::to_string(4 * bytes) + " bytes");
  std::vector<runlog_row> rows;
  diffuse_state state =
      request.resume ? diffuse_folder(request.output).read_checkpoint(p, type, rows) : start_of(p, type);
  if (state.step > p.ns)
    throw error(errc::invalid_argument, "the checkpoint is of step " + std::to_string(state.step) + ", beyond the " +
                                            std::to_string(p.ns) + " asked for; give --steps");
  take_interrupts();
  return diffuse_run(request, std::move(state), std::move(rows)).run();
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
  command.add_option("--diffusivity", to.diffusivity, "dc of the file")->option_text("D")->check(CLI::PositiveNumber);
  command.add_option("--stability", to.stability, "co of the file: time step * 4 D / shorter distance^2")
      ->option_text("CO")
      ->check(CLI::PositiveNumber);
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
      "  tilewise diffuse --grid 64x64 --mask 93 --steps 1000 --every 100 -o out --json\n"
      "  tilewise diffuse params.txt -o out --resume --device opencl:0");
  command->callback([&call, request] { call.run = [request] { return diffuse_file(*request); }; });
}

}  // namespace tilewise::cli
