#include "cli/device_use.hpp"

#include "backend/cpu/cpu_device.hpp"
#include "cli/drivers.hpp"
#include "cli/output.hpp"

#include <algorithm>
#include <cstdlib>

namespace tilewise::cli {

namespace {

void leave_out_and_tell(bool quiet = false) {
  static bool told = false;
  for (const faulty_driver& f : leave_out_faulty_drivers())
    if (!told && !quiet) note("tilewise: the OpenCL driver " + f.file + " " + f.what + "; it is left out");
  told = true;
}

/// "auto" looks at OpenCL only where there is no CUDA device; see tilewise::open.
bool may_need_opencl(std::string_view name) {
  if (name.empty() || name == "auto") {
    if (const char* wanted = std::getenv("TILEWISE_DEVICE"); wanted != nullptr && *wanted != '\0' && name != wanted)
      return may_need_opencl(wanted);
    std::string ignored;
    for (const backend::runtime& r : backend::runtimes())
      if (r.name == "cuda" && !r.devices(ignored).empty()) return false;
    return true;
  }
  return name != "cpu" && !name.starts_with("cpu:") && !name.starts_with("cuda");
}

using device_list = std::vector<device_handle>;

device_list all_devices(const device_list_options& options) {
  device_list all;
  leave_out_and_tell(options.quiet);
  for (const backend::runtime& r : backend::runtimes()) {
    std::string why_none;
    for (device_handle& d : r.devices(why_none))
      all.push_back(d->info().backend == "cpu"
                        ? backend::cpu::make_device(d->info().name, {.threads = options.threads, .instruction_set = {}})
                        : std::move(d));
  }
  return all;
}

common_options one_of(const device_list_options& options, const std::string& name) {
  common_options one;
  one.device = name;
  one.threads = options.threads;
  one.quiet = options.quiet;
  return one;
}

}  // namespace

device_handle open_device(const common_options& options) {
  if (may_need_opencl(options.device)) leave_out_and_tell(options.quiet);
  try {
    return backend::find_device(options.device, {.threads = options.threads, .instruction_set = {}});
  } catch (const error& e) {
    // Nothing was lost: what was asked for is not here.
    throw error(e.code() == errc::device_lost ? errc::unsupported : e.code(), e.what());
  }
}

std::vector<device_handle> open_devices(const device_list_options& options) {
  std::vector<device_handle> opened;
  for (const std::string& name : options.names)
    for (device_handle& d : name == "all" ? all_devices(options) : device_list{open_device(one_of(options, name))})
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
