// SPDX-License-Identifier: Apache-2.0
#include "tool/drivers/device_use.hpp"

#include "backend/cpu/device.hpp"
#include "backend/group/device.hpp"
#include "backend/group/mpi_world.hpp"
#include "base/variable.hpp"
#include "registry/catalog.hpp"
#include "tool/drivers/cache.hpp"
#include "tool/drivers/drivers.hpp"
#include "tool/interrupt.hpp"
#include "tool/output.hpp"
#include "tool/ranks/agreement.hpp"
#include "tool/ranks/files.hpp"

#include <algorithm>
#include <cstdlib>

namespace tilewise::cli {

namespace {

void tell(const std::vector<faulty_driver>& faulty, bool quiet, const std::string& more = "") {
  static bool told = false;
  for (const faulty_driver& f : faulty)
    if (!told && !quiet) note("tilewise: the OpenCL driver " + f.file + " " + f.what + "; it is left out" + more);
  told = true;
}

void leave_out_and_tell(bool quiet = false) { tell(leave_out_faulty_drivers(), quiet); }

/// Peers are other people's code, and may hang on any device.
bool has_peers() {
  const std::vector<registry::variant>& all = registry::variants();
  return std::any_of(all.begin(), all.end(), [](const registry::variant& v) { return v.peer; });
}

device_handle watched(device_handle opened, unsigned time_limit_s, bool quiet) {
  const device_info& facts = opened->info();
  const std::string doubt = backend::group::doubt_about(*opened);
  if (!doubt.empty() && !quiet) note("tilewise: " + doubt);
  const bool is_cpu = facts.backend == "cpu";
  if (!is_cpu || has_peers()) watch_drivers(time_limit_s, is_cpu ? "" : facts.name);
  if (facts.name.find("opencl") == facts.name.npos) return opened;  // also none in a group
  tell_of_cache(quiet);
  end_on_driver_crash();
  return opened;
}

/// Whether a name can be resolved without OpenCL. "auto" needs OpenCL only if there is no CUDA device; see
/// tilewise::open.
bool is_of_another_backend(std::string_view name) {
  if (backend::group::is_group(name)) return name.find("opencl") == name.npos;
  if (name == "cpu" || name.starts_with("cpu:")) return true;
  std::string ignored;
  for (const backend::runtime& r : backend::runtimes())
    if (r.name != "opencl" && (name.starts_with(r.name) || (name == "auto" && r.name == "cuda")))
      for (const auto& d : r.devices(ignored))
        if (name == "auto" || name == r.name || name == d->info().name) return true;
  return false;
}

/// `alone`: this process opens no other device, so a driver that is not needed stays unloaded.
device_handle open_one(const common_options& options, bool alone) {
  require_same_call();
  std::string name = name_for_ranks(meant_by(options.device));
  const bool looks_at_opencl = !is_of_another_backend(name);  // also for an unknown name
  if (looks_at_opencl && name == "auto" && alone) {
    const auto_drivers& found = leave_out_drivers_for_auto();
    tell(found.faulty, options.quiet, found.is_recorded ? " (`tilewise devices` looks again)" : "");
    if (!found.needs_opencl) name = "cpu";
  } else if (looks_at_opencl) {
    leave_out_and_tell(options.quiet);
  }
  try {
    return watched(backend::find_device(name, {.threads = options.threads, .instruction_set = {}}),
                   options.time_limit_s, options.quiet);
  } catch (const error& e) {
    // Not `device_lost`: nothing was lost, but the requested device does not exist here.
    throw error(e.code() == errc::device_lost ? errc::unsupported : e.code(), e.what());
  }
}

using device_list = std::vector<device_handle>;

device_list all_devices(const device_list_options& options) {
  device_list all;
  leave_out_and_tell(options.quiet);
  for (const backend::runtime& r : backend::runtimes()) {
    std::string why_none;
    for (device_handle& d : r.devices(why_none)) {
      const device_info& facts = d->info();
      if (facts.backend == "cpu")
        d = backend::cpu::make_device(facts.name, {.threads = options.threads, .instruction_set = {}});
      all.push_back(watched(std::move(d), options.time_limit_s, options.quiet));
    }
  }
  return all;
}

common_options one_of(const device_list_options& options, const std::string& name) {
  common_options one;
  one.device = name;
  one.threads = options.threads;
  one.time_limit_s = options.time_limit_s;
  one.quiet = options.quiet;
  return one;
}

}  // namespace

std::string meant_by(const std::string& name) {
  if (!name.empty() && name != "auto") return name;
  const std::string wanted = base::variable("TILEWISE_DEVICE");
  return wanted.empty() ? "auto" : wanted;
}

device_handle open_device(const common_options& options) {
  if (options.device_memory != 0) setenv("TILEWISE_DEVICE_MEMORY", std::to_string(options.device_memory).c_str(), 1);
  return open_one(options, true);
}

std::vector<device_handle> open_devices(const device_list_options& options) {
  const auto devices_called = [&](const std::string& name) {
    const bool is_one = name != "all" || backend::group::is_mpi_process();  // ranks open one device together
    return is_one ? device_list{open_one(one_of(options, name), false)} : all_devices(options);
  };
  std::vector<device_handle> opened;
  for (const std::string& name : options.names)
    for (device_handle& d : devices_called(name))
      if (std::none_of(opened.begin(), opened.end(),
                       [&](const device_handle& known) { return known->info().name == d->info().name; }))
        opened.push_back(std::move(d));
  return opened;
}

std::vector<device_handle> devices_of(const backend::runtime& runtime, std::string& why_none) {
  if (runtime.name == "opencl") leave_out_and_tell();
  return runtime.devices(why_none);
}

}  // namespace tilewise::cli
