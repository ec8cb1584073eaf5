// SPDX-License-Identifier: Apache-2.0
// tilewise devices: lists what this machine can compute on, and what each device's arithmetic is like.
#include "lab/machine/environment.hpp"
#include "record/json.hpp"
#include "registry/tuned.hpp"
#include "report/format.hpp"
#include "tool/commands.hpp"
#include "tool/drivers/child.hpp"
#include "tool/drivers/drivers.hpp"
#include "tool/output.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace tilewise::cli {

namespace {

using nlohmann::ordered_json;

struct seen_device {
  device_info info;
  probe_result probe;
  std::size_t tunings;  // applied tunings, which calls on the device use instead of a default
};

std::size_t tunings_on(const device_info& info, const std::vector<registry::tuned>& kept) {
  return static_cast<std::size_t>(std::count_if(kept.begin(), kept.end(), [&](const registry::tuned& t) {
    return t.is_applied && !t.is_default() && t.device == registry::key_of_device(info);
  }));
}

std::vector<seen_device> probe_all(const survey& seen) {
  const registry::kept_tunings kept = registry::read_tunings();
  std::vector<seen_device> probed;
  for (const auto& d : seen.devices) {
    progress("probing " + d->info().name);
    probed.push_back({d->info(), probe_device(d->info().name), tunings_on(d->info(), kept.all)});
  }
  return probed;
}

ordered_json to_json(const seen_device& d) {
  ordered_json fields = record::to_json(lab::device_facts(d.info));
  fields["max_allocation_bytes"] = d.info.max_allocation;
  fields["max_group_size"] = d.info.max_group_size;
  fields["group_multiple"] = d.info.group_multiple;
  fields["fp64"] = d.info.fp64;
  fields["denormals"] = d.info.denormals;
  fields["probe"] = {{"answered", d.probe.answered},
                     {"ok", d.probe.answered && d.probe.findings.empty()},
                     {"findings", d.probe.findings}};
  fields["applied_tunings"] = d.tunings;
  return fields;
}

void print_survey(const survey& seen, const std::vector<seen_device>& probed) {
  ordered_json all{
      {"devices", ordered_json::array()}, {"missing", ordered_json::array()}, {"faulty", ordered_json::array()}};
  for (const seen_device& d : probed) all["devices"].push_back(to_json(d));
  for (const absent& b : seen.backends) all["missing"].push_back({{"backend", b.name}, {"reason", b.reason}});
  for (const absent& d : seen.drivers) all["faulty"].push_back({{"driver", d.name}, {"reason", d.reason}});
  print_json(all);
}

std::string facts_of(const device_info& info) {
  std::string text;
  const auto add = [&](const std::string& fact) {
    if (!fact.empty()) text += (text.empty() ? "" : ", ") + fact;
  };
  add(info.platform);
  add(info.api_version);
  add(info.driver.empty() ? "" : "driver " + info.driver);
  add(info.compute_units == 0 ? "" : std::to_string(info.compute_units) + " units");
  add(info.group_multiple == 0 ? "" : "groups in multiples of " + std::to_string(info.group_multiple));
  add(info.memory == 0 ? "" : report::bytes(static_cast<double>(info.memory)));
  add(info.fp64 ? "" : "no double precision");
  return text;
}

void print_text(const survey& seen, const std::vector<seen_device>& probed) {
  constexpr std::size_t column = 14;
  const std::string indent(column, ' ');
  for (const auto& [info, probe, tunings] : probed) {
    print(info.name + std::string(column - std::min(column - 1, info.name.size()), ' ') + info.description + "\n");
    print(indent + facts_of(info) + "\n");
    if (probe.findings.empty()) print(indent + coloured("arithmetic: as the order requires", colour::green) + "\n");
    for (const std::string& finding : probe.findings)
      print(indent + coloured("arithmetic: " + finding, colour::red) + "\n");
    if (tunings > 0)
      print(indent + report::count(tunings) + (tunings == 1 ? " tuning" : " tunings") +
            " of `tilewise tune` applied\n");
  }
  for (const absent& b : seen.backends) print(b.name + ": none. " + b.reason + "\n");
  for (const absent& d : seen.drivers)
    print(coloured("faulty: ", colour::red) + d.name + " " + d.reason + "; it is left out\n");
}

exit_code show_devices(const common_options& common) {
  const survey seen = look_around();
  (common.json ? print_survey : print_text)(seen, probe_all(seen));
  return seen.devices.empty() ? exit_code::unavailable : exit_code::ok;
}

}  // namespace

void add_devices(CLI::App& app, invocation& call) {
  CLI::App* command = app.add_subcommand("devices", "what this machine can compute on, with a probe of each");
  auto common = std::make_shared<common_options>();
  command->add_flag("--json", common->json, "one JSON object on one line, also for errors");
  command->footer(
      "Each device runs a short floating-point probe in its own process, so that a\n"
      "driver that crashes or hangs is named here and harms nothing else. What the\n"
      "drivers list is remembered for a day, so that --device auto need not load an\n"
      "OpenCL driver that lists only CPUs. This command always looks again. It also\n"
      "counts the tunings that calls on a device use, by `tilewise tune --apply`.\n"
      "\n"
      "Examples:\n"
      "  tilewise devices\n"
      "  tilewise devices --json | jq '.devices[].name'");
  command->callback([&call, common] { call.run = [common] { return show_devices(*common); }; });
}

}  // namespace tilewise::cli
