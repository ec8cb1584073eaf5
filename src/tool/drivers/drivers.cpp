// SPDX-License-Identifier: Apache-2.0
#include "tool/drivers/drivers.hpp"

#include "base/variable.hpp"
#include "tool/drivers/cache.hpp"
#include "tool/drivers/child.hpp"
#include "tool/drivers/icd_files.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>

namespace tilewise::cli {

namespace {

namespace fs = std::filesystem;
using drivers = std::vector<fs::path>;

/// Lists devices in a child that sees only these drivers.
listing list_alone(const drivers& icds) {
  make_driver_folder();
  const icd_folder alone(icds);
  std::vector<std::pair<std::string, std::string>> environment;
  for (const char* name : icd_folder_variables) environment.emplace_back(name, alone.name());
  return list_in_child("opencl", environment);
}

/// The listing of one driver, made once per process. A driver whose file the loader might wait for is not listed.
const listing& listing_of(const fs::path& icd) {
  static std::map<fs::path, listing> known;
  const auto found = known.find(icd);
  if (found != known.end()) return found->second;
  return known.emplace(icd, can_be_read(icd) ? list_alone({icd}) : listing{"is not a regular file", {}}).first->second;
}

std::vector<faulty_driver> faults_of(const drivers& icds) {
  std::vector<faulty_driver> faulty;
  for (const fs::path& icd : icds)
    if (!listing_of(icd).fault.empty()) faulty.push_back({icd.string(), listing_of(icd).fault});
  return faulty;
}

drivers without(drivers icds, const std::vector<faulty_driver>& faulty) {
  std::erase_if(icds, [&](const fs::path& icd) {
    return std::any_of(faulty.begin(), faulty.end(), [&](const faulty_driver& f) { return f.file == icd; });
  });
  return icds;
}

bool lists_more_than_cpus(const fs::path& icd) {
  const std::vector<bool>& is_cpu = listing_of(icd).is_cpu;
  return std::find(is_cpu.begin(), is_cpu.end(), false) != is_cpu.end();
}

/// The index of the device that `auto` would choose.
std::ptrdiff_t choice_among(const drivers& icds) {
  const listing all = list_alone(icds);
  return std::find(all.is_cpu.begin(), all.is_cpu.end(), false) - all.is_cpu.begin();
}

/// A driver that has only CPUs is left out only if the chosen device keeps its index, since a user may name it by that.
driver_findings look_for_auto(const drivers& icds) {
  driver_findings found{faults_of(icds), {}};
  const drivers good = without(icds, found.faulty);
  std::copy_if(good.begin(), good.end(), std::back_inserter(found.wanted), lists_more_than_cpus);
  const bool is_mixed = !found.wanted.empty() && found.wanted.size() < good.size();
  if (is_mixed && choice_among(found.wanted) != choice_among(good)) found.wanted = good;
  return found;
}

/// Lets this process load only these drivers. The loader reads the folder until the tool ends.
void use_only(const drivers& icds) {
  static std::unique_ptr<icd_folder> chosen;
  chosen = std::make_unique<icd_folder>(icds);
  for (const char* name : icd_folder_variables) setenv(name, chosen->name().c_str(), 1);
}

/// Whether findings can predict what will be loaded: not with a different loader, or without known drivers.
bool can_be_known(const drivers& icds) { return !icds.empty() && base::variable("TILEWISE_OPENCL_LIBRARY").empty(); }

/// Examines all drivers again and records what `auto` needs to know.
void record_drivers_for_auto() {
  const drivers all = icd_files();
  if (can_be_known(all)) record_findings(all, look_for_auto(all));
}

}  // namespace

const std::vector<faulty_driver>& leave_out_faulty_drivers() {
  static const std::vector<faulty_driver> faulty = [] {
    make_driver_folder();
    const drivers all = icd_files();
    std::vector<faulty_driver> bad = faults_of(all);
    if (!bad.empty()) use_only(without(all, bad));
    return bad;
  }();
  return faulty;
}

const auto_drivers& leave_out_drivers_for_auto() {
  static const auto_drivers result = []() -> auto_drivers {
    const drivers all = icd_files();
    if (!can_be_known(all)) return {.faulty = leave_out_faulty_drivers()};
    std::optional<driver_findings> found = recorded_findings(all);
    const bool is_recorded = found.has_value();
    if (!is_recorded) {
      found = look_for_auto(all);
      record_findings(all, *found);
    }
    const std::vector<faulty_driver> bad = faults_of(found->wanted);  // drivers that will be loaded are examined again
    const drivers good = without(found->wanted, bad);
    found->faulty.insert(found->faulty.end(), bad.begin(), bad.end());
    if (!good.empty() && good.size() < all.size()) use_only(good);
    return {std::move(found->faulty), !good.empty(), is_recorded};
  }();
  return result;
}

std::vector<fs::path> drivers_without_devices() {
  drivers idle = icd_files();
  std::erase_if(idle,
                [](const fs::path& icd) { return !listing_of(icd).fault.empty() || !listing_of(icd).is_cpu.empty(); });
  return idle;
}

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
