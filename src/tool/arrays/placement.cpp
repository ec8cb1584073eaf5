// SPDX-License-Identifier: Apache-2.0
#include "tool/arrays/placement.hpp"

#include "backend/backend.hpp"
#include "backend/cpu/device.hpp"
#include "backend/group/mpi_world.hpp"
#include "report/format.hpp"
#include "tool/output.hpp"
#include "tool/tune/figures_record.hpp"

namespace tilewise::cli {

namespace {

constexpr const char* while_it_is_read = "computed while it is read; ";

placement opened(common_options options, const std::string& name, const std::string& reason) {
  options.device = name;
  return {open_device(options), reason};
}

/// The rule where nothing has been measured.
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

/// It may be an earlier driver, another card, or none at all.
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

}  // namespace

placement place(const registry::problem& p, const common_options& options, bool while_reading) {
  const bool is_open = !backend::group::is_mpi_process() && options.variant.empty() && options.tuning.empty() &&
                       meant_by(options.device) == "auto";
  if (is_open) return predicted(p, options, while_reading);
  return {open_device(options), ""};
}

}  // namespace tilewise::cli
