// SPDX-License-Identifier: Apache-2.0
// tilewise list: lists every variant and, if it does not run here, why.
#include "tool/drivers/device_use.hpp"
#include "tool/known_peers.hpp"
#include "tool/output.hpp"

#include "base/number.hpp"
#include "registry/choose.hpp"

#include <nlohmann/json.hpp>

#include <map>

namespace tilewise::cli {

namespace {

using nlohmann::ordered_json;

struct backend_here {
  std::vector<device_handle> devices;
  std::string why_none = "this build has no such backend";
};
using machine = std::map<std::string, backend_here, std::less<>>;

machine look_at_backends() {
  machine here;
  for (const backend::runtime& r : backend::runtimes()) {
    backend_here& b = here[std::string(r.name)];
    b.devices = devices_of(r, b.why_none);
  }
  here["group"].devices = {backend::find_device("2*cpu:serial", {})};  // the smallest group, which every machine has
  return here;
}

/// Empty if some device here runs the variant on the first size that bench measures, with its default tuning.
std::string why_not_here(const registry::algorithm& what, const registry::variant& v, const machine& here) {
  const auto found = here.find(v.device_backend());
  if (found == here.end() || found->second.devices.empty())
    return found == here.end() ? backend_here().why_none : found->second.why_none;
  const registry::problem p{.what = &what, .type = v.types.front(), .shape = what.quick_shapes.front()};
  std::string reason;
  for (const device_handle& d : found->second.devices) {
    reason = registry::unsupported_reason(v, p, *d, registry::default_tuning(v.tuning));
    if (reason.empty()) return "";
  }
  return reason;
}

std::string order_of(const registry::variant& v) {
  if (v.order == registry::claim::tilewise) return "tilewise";
  return "own, within " + base::to_string(base::scalar_value::of(v.bound));
}

ordered_json to_json(const registry::variant& v, const std::string& why_not) {
  ordered_json types = ordered_json::array(), space = ordered_json::object();
  for (const dtype t : v.types) types.push_back(name_of(t));
  for (const registry::tuning_axis& axis : v.tuning) space[std::string(axis.name)] = registry::values_of(axis);
  const bool own = v.order == registry::claim::own;
  return {{"id", v.id()},
          {"algorithm", v.algorithm},
          {"backend", v.backend},
          {"name", v.name},
          {"order", own ? "own" : "tilewise"},
          {"bound", own ? ordered_json(v.bound) : ordered_json()},
          {"peer", v.peer},
          {"dtypes", types},
          {"source", v.source},
          {"tuning", registry::to_string(registry::default_tuning(v.tuning), v.tuning)},
          {"tuning_space", space},
          {"available", why_not.empty()},
          {"reason", why_not.empty() ? ordered_json() : ordered_json(why_not)}};
}

void print_variant(const registry::variant& v, const std::string& why_not) {
  std::string types;
  for (const dtype t : v.types) types += (types.empty() ? "" : " ") + std::string(name_of(t));
  print("  " + v.id() + (v.peer ? "  (peer)" : "") + "\n");
  print("    order   " + order_of(v) + "\n    dtypes  " + types + "\n    source  " + std::string(v.source) + "\n");
  for (const registry::tuning_axis& axis : v.tuning)
    print("    tuning  " + std::string(axis.name) + "=" + registry::values_of(axis) + "\n");
  if (!why_not.empty()) print("    " + coloured("not here: " + why_not, colour::red) + "\n");
}

exit_code list_variants(const std::string& name, bool json) {
  std::vector<const registry::algorithm*> wanted(registry::algorithms().begin(), registry::algorithms().end());
  if (!name.empty()) wanted = {&registry::find_algorithm(name)};
  add_known_peers();
  const machine here = look_at_backends();
  ordered_json all = ordered_json::array();
  for (const registry::algorithm* what : wanted) {
    if (!json) print(std::string(what->name) + ": " + std::string(what->summary) + "\n");
    for (const registry::variant* v : registry::variants_of(*what)) {
      const std::string why_not = why_not_here(*what, *v, here);
      if (json)
        all.push_back(to_json(*v, why_not));
      else
        print_variant(*v, why_not);
    }
  }
  if (json) print_json({{"variants", all}});
  return exit_code::ok;
}

}  // namespace

void add_list(CLI::App& app, invocation& call) {
  CLI::App* command = app.add_subcommand("list", "every variant of every algorithm, and its order");
  auto name = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  command->add_option("ALGORITHM", *name, "only this one")->option_text(" ");
  command->add_flag("--json", *json, "one JSON object on one line, also for errors");
  command->footer(
      "Variants with the order `tilewise` return the same bits on every device. A\n"
      "backend's first variant that can do the work is chosen unless --variant says\n"
      "otherwise; peers are there only for comparison.\n"
      "\n"
      "Examples:\n"
      "  tilewise list\n"
      "  tilewise list scan --json | jq '.variants[] | select(.available) | .id'");
  command->callback([&call, name, json] { call.run = [=] { return list_variants(*name, *json); }; });
}

}  // namespace tilewise::cli
