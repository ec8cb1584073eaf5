// SPDX-License-Identifier: Apache-2.0
#include "tool/arrays/data_command.hpp"

#include "backend/backend.hpp"
#include "backend/cpu/device.hpp"
#include "backend/group/mpi_world.hpp"
#include "backend/transfer_team.hpp"
#include "call/execute.hpp"
#include "divide/pieces.hpp"
#include "io/array_output.hpp"
#include "io/host_memory.hpp"
#include "lab/verify/verify.hpp"
#include "report/format.hpp"
#include "tool/arrays/file.hpp"
#include "tool/output.hpp"
#include "tool/ranks/agreement.hpp"
#include "tool/ranks/files.hpp"
#include "tool/tune/figures_record.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace tilewise::cli {

double ns_since(clock::time_point start) {
  return std::chrono::duration<double, std::nano>(clock::now() - start).count();
}

namespace {

/// Checks memory. A call that is computed in pieces needs little of the device's.
void require_memory(const registry::problem& p, const registry::choice& how, backend::device& on) {
  const device_info& device = on.info();
  std::uint64_t outputs = 0, all = 0, largest = 0;
  for (const registry::operand& out : p.what->outputs(p)) outputs += out.bytes();
  for (const auto& operands : {p.what->inputs(p), p.what->outputs(p)})
    for (const registry::operand& o : operands) all += o.bytes(), largest = std::max(largest, o.bytes());
  const std::string what = registry::to_string(p) + " needs ";
  io::require_host_memory(outputs, what + std::to_string(outputs) + " more bytes");
  if (device.backend == "cpu" || divide::runs_in_pieces(p, how, on.queue())) return;
  const auto refuse = [&](std::uint64_t need, std::uint64_t limit, const std::string& in) {
    if (limit != 0 && need > limit)
      throw error(errc::out_of_memory, what + std::to_string(need) + " bytes in " + in + " of " + device.name +
                                           ", whose limit is " + std::to_string(limit) +
                                           "; use a smaller input or --device cpu");
  };
  refuse(largest, device.max_allocation, "one array");
  refuse(all, device.memory, "the memory");
}

/// Runs the call. It measures the kernel only if times are requested, since the clock waits for the device once more.
void run_on(backend::queue& queue, const registry::problem& p, std::span<const bytes* const> inputs, bool timed,
            data_run& run) {
  const bool moves = run.device->info().backend != "cpu";
  std::vector<const void*> from;
  for (const bytes* input : inputs) from.push_back(input->data());
  std::vector<void*> to;
  for (bytes& output : run.outputs) to.push_back(output.data());
  const auto whole = clock::now();
  run.in_pieces = divide::runs_in_pieces(p, run.how, queue);
  if (run.in_pieces) {
    const double sent = queue.transfers()->sent_ns(), fetched = queue.transfers()->fetched_ns();
    call::run_on_host(p, run.how, queue, from, to, &run.times.kernel);
    run.times.h2d = queue.transfers()->sent_ns() - sent;
    run.times.d2h = queue.transfers()->fetched_ns() - fetched;
    run.times.end_to_end = ns_since(whole);
    return;
  }
  call::host_run steps(p, run.how, queue, from, to);
  auto start = clock::now();
  steps.upload();
  queue.finish();
  if (moves) run.times.h2d = ns_since(start);
  start = clock::now();
  if (timed) queue.start_clock();
  steps.run();
  if (timed) run.times.kernel = queue.stop_clock();
  queue.finish();
  run.times.first_call = ns_since(start);
  start = clock::now();
  steps.download();
  if (moves) run.times.d2h = ns_since(start);
  run.times.end_to_end = ns_since(whole);
}

/// Where to run a call, and why.
struct placement {
  device_handle device;
  std::string reason;  // the beginning of a sentence; may be empty
};

constexpr const char* while_it_is_read = "computed while it is read; ";

placement opened(common_options options, const std::string& name, const std::string& reason) {
  options.device = name;
  return {open_device(options), reason};
}

/// The device if nothing was measured.
placement usual(const common_options& options, bool while_reading) {
  return while_reading ? opened(options, "cpu", while_it_is_read) : opened(options, "auto", "");
}

void note_why(const common_options& options, const std::string& why_not_predicted) {
  if (options.verbose) note("tilewise: " + why_not_predicted + "; `tilewise tune --transfers` measures this machine");
}

placement unmeasured(const common_options& options, bool while_reading, const kept_figures& kept) {
  placement taken = usual(options, while_reading);
  const bool may_be_slower = while_reading || taken.device->info().backend != "cpu";
  if (!kept.fault.empty())
    note_why(options, "the measured figures of this machine are not used: " + kept.fault);
  else if (!kept.figures && may_be_slower)
    note_why(options, "whether a GPU with its transfers is faster has not been measured");
  return taken;
}

/// Whether the device is the measured one. It may be another card, an earlier driver, or none at all.
bool is_as_measured(const device_handle& device, const lab::device_figures& figures) {
  return device->info().name == figures.name && backend::identity_of(device->info()) == figures.identity;
}

placement predicted(const registry::problem& p, const common_options& options, bool while_reading) {
  const auto cpu = backend::cpu::make_device("cpu", {.threads = options.threads, .instruction_set = {}});
  const kept_figures kept = find_figures(cpu->info());
  if (!kept.figures || !kept.figures->device) return unmeasured(options, while_reading, kept);
  const lab::device_figures& device = *kept.figures->device;
  const auto times = lab::predict(*kept.figures, p, while_reading);
  if (!times) {
    note_why(options, registry::to_string(p) + " is not among the measured figures");
    return usual(options, while_reading);
  }
  const std::string reason = "predicted: cpu " + report::duration(times->cpu_ns) + ", " + device.name + " " +
                             report::duration(times->device_ns) + "; ";
  if (times->cpu_ns <= times->device_ns)
    return opened(options, "cpu", reason + (while_reading ? while_it_is_read : ""));
  placement there = opened(options, "auto", reason);
  if (is_as_measured(there.device, device)) return there;
  note_why(options, "the measured figures are of another " + device.name + ", " + device.identity);
  return usual(options, while_reading);
}

/// Opens the device that the options name. If they leave it open, it is predicted from the measured figures. Without
/// figures it is the best device, or the CPU for work that is done `while_reading`; -v then says why there was no
/// prediction.
placement place(const registry::problem& p, const common_options& options, bool while_reading) {
  const bool is_open = !backend::group::is_mpi_process() && options.variant.empty() && options.tuning.empty() &&
                       meant_by(options.device) == "auto";
  if (is_open) return predicted(p, options, while_reading);
  return {open_device(options), ""};
}

data_run plan(const registry::problem& p, const common_options& options, bool while_reading) {
  const registry::preferences wanted{options.variant, options.tuning, options.fast};
  call::admit(p, wanted);
  const placement where = place(p, options, while_reading);
  data_run run{.device = where.device, .how = registry::choose(p, *where.device, wanted), .outputs = {}, .times = {}};
  run.how.reason = where.reason + run.how.reason;
  require_same_problem(p);
  return run;
}

}  // namespace

data_run plan_run(const registry::problem& p, const common_options& options) { return plan(p, options, false); }

data_run plan_stream(const registry::problem& p, const common_options& options) { return plan(p, options, true); }

void run_planned(const registry::problem& p, std::span<const bytes* const> inputs, const common_options& options,
                 data_run& run) {
  require_memory(p, run.how, *run.device);
  for (const registry::operand& out : p.what->outputs(p)) run.outputs.emplace_back(out.bytes());
  run_on(run.device->queue(), p, inputs, options.json, run);
}

void run_from_files(const registry::problem& p, std::span<io::array_input* const> inputs, const common_options& options,
                    data_run& run) {
  if (is_in_processes(run)) return run_in_processes(p, inputs, {}, run);
  std::vector<io::npy_array> arrays;
  std::vector<const bytes*> blocks;
  for (io::array_input* input : inputs) arrays.push_back(input->read_all());
  for (const io::npy_array& array : arrays) blocks.push_back(&array.data);
  run_planned(p, blocks, options, run);
}

/// "scan" for scan_axis, and "reduce" for segment_reduce, which are options of these commands.
static std::string_view command_of(const registry::algorithm& what) {
  constexpr std::string_view along = "_axis", of_segments = "segment_";
  if (what.name.starts_with(of_segments)) return what.name.substr(of_segments.size());
  return what.name.ends_with(along) ? what.name.substr(0, what.name.size() - along.size()) : what.name;
}

nlohmann::ordered_json describe(const registry::problem& p, const device_handle& device, const registry::choice& how,
                                std::span<const std::uint64_t> shape, const std::string& digest) {
  nlohmann::ordered_json fields;
  fields["command"] = command_of(*p.what);
  fields["device"] = device->info().name;
  fields["variant"] = how.variant->id();
  fields["reason"] = how.reason;
  fields["tuning"] = registry::to_string(how.tuning, how.variant->tuning);
  for (const auto& [name, word] : registry::named_settings(p)) fields[std::string(name)] = word;
  fields["dtype"] = name_of(p.type);
  fields["shape"] = shape;
  fields["digest"] = digest;
  return fields;
}

nlohmann::ordered_json describe(const registry::problem& p, const data_run& run, std::span<const std::uint64_t> shape,
                                const std::string& digest) {
  nlohmann::ordered_json fields = describe(p, run.device, run.how, shape, digest);
  const auto whole = [](double ns) { return static_cast<std::uint64_t>(std::llround(ns)); };
  const auto step = [&](double ns) {
    return run.in_pieces ? nlohmann::ordered_json() : nlohmann::ordered_json(whole(ns));
  };
  fields["h2d_ns"] = step(run.times.h2d);
  fields["kernel_ns"] = step(run.times.kernel);
  fields["d2h_ns"] = step(run.times.d2h);
  fields["round_trip_ns"] = step(run.times.h2d + run.times.kernel + run.times.d2h);
  fields["first_call_ns"] = step(run.times.first_call);
  fields["end_to_end_ns"] = whole(run.times.end_to_end);
  fields["in_pieces"] = run.in_pieces;
  return fields;
}

void print_fields(nlohmann::ordered_json fields, const std::string& output) {
  fields["output"] = output;
  print_json(fields);
}

void tell(const data_run& run, const common_options& options) {
  if (!options.verbose) return;
  const std::string tuning = registry::to_string(run.how.tuning, run.how.variant->tuning);
  note(run.how.variant->id() + (tuning.empty() ? "" : " " + tuning) + " on " + run.device->info().name + ": " +
       run.how.reason + "; " + std::to_string(std::llround(run.times.end_to_end / 1000)) + " us end to end" +
       (run.in_pieces ? ", in pieces" : "") + way_between_gpus(run));
  const backend::transfer_team* const moved = run.device->queue().transfers();
  if (moved != nullptr && moved->lacked_pinned_memory())
    note("the system pins no more memory, so transfers were slower");
}

namespace {

/// Each rank writes its range. The first rank then reads the whole file for the digest that it prints.
exit_code run_to_shared_file(const registry::problem& p, std::span<io::array_input* const> inputs,
                             const common_options& options, data_run run, const std::string& output,
                             std::span<const std::uint64_t> shape) {
  shared_output file(run, output, p.what->outputs(p).front().type, shape);
  run_in_processes(p, inputs, std::array{&file.file()}, run);
  tell(run, options);
  file.commit();
  if (options.json && is_first_rank())
    print_fields(describe(p, run, shape, lab::digest_of(io::array_input(output).read_all().data)), output);
  return exit_code::ok;
}

}  // namespace

exit_code run_to_file(const registry::problem& p, std::span<io::array_input* const> inputs,
                      const common_options& options, data_run run, const std::string& output,
                      std::span<const std::uint64_t> shape) {
  require_free_output(output, options.json);
  if (is_in_processes(run)) return run_to_shared_file(p, inputs, options, std::move(run), output, shape);
  io::array_output file(output, p.what->outputs(p).front().type, shape);
  run_from_files(p, inputs, options, run);
  tell(run, options);
  file.write(0, run.outputs.front());
  file.commit();
  if (options.json) print_fields(describe(p, run, shape, lab::digest_of(run.outputs.front())), output);
  return exit_code::ok;
}

}  // namespace tilewise::cli
