// SPDX-License-Identifier: Apache-2.0
#include "tool/drivers/survey.hpp"

#include "tool/drivers/cache.hpp"
#include "tool/drivers/child_probe.hpp"
#include "tool/drivers/drivers.hpp"

namespace tilewise::cli {

survey look_around() {
  survey seen;
  for (const backend::runtime& r : backend::runtimes()) {
    const std::string name(r.name);
    if (name == "opencl") {
      record_drivers_for_auto();
      for (const faulty_driver& f : leave_out_faulty_drivers()) seen.drivers.push_back({f.file, f.what});
    } else if (const std::string fault = name == "cpu" ? "" : list_in_child(name).fault; !fault.empty()) {
      seen.drivers.push_back({"the " + name + " runtime", fault});
      continue;
    }
    std::string why_none;
    const auto devices = r.devices(why_none);
    if (name == "opencl" && !devices.empty()) tell_of_cache(false);
    seen.devices.insert(seen.devices.end(), devices.begin(), devices.end());
    if (devices.empty()) seen.backends.push_back({name, why_none});
  }
  return seen;
}

}  // namespace tilewise::cli
