// SPDX-License-Identifier: Apache-2.0
// The machines, their devices and noise floors; further down the full environment and the commands.
#include "record/record_json.hpp"
#include "report/findings.hpp"
#include "report/format.hpp"
#include "report/sections.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace tilewise::report {

namespace {

using nlohmann::json;

std::string shown(const std::string& text) { return text.empty() ? "–" : text; }
std::string shown(const record::maybe_text& text) { return text ? *text : "–"; }
std::string shown(record::maybe_count value) { return value ? std::to_string(*value) : "–"; }
std::string sized(record::maybe_count value) { return value ? bytes(static_cast<double>(*value)) : "–"; }

std::map<std::string_view, std::vector<const row*>> rows_by_machine(const model& m) {
  std::map<std::string_view, std::vector<const row*>> found;
  for (const row& r : m.rows) found[r.machine].push_back(&r);
  return found;
}

/// The median of those that the cases of a device measured; 0 if none did.
double noise_floor(std::vector<double> effects) {
  std::sort(effects.begin(), effects.end());
  return effects.empty() ? 0 : effects[effects.size() / 2];
}

html device_table(const std::vector<const row*>& rows) {
  std::map<std::string_view, std::vector<double>> effects_on;
  std::vector<const row*> first_of_each;
  for (const row* r : rows) {
    const auto [effects, is_new] = effects_on.try_emplace(r->device);
    if (is_new) first_of_each.push_back(r);
    if (r->min_effect) effects->second.push_back(*r->min_effect);
  }
  std::vector<std::vector<html>> lines;
  for (const row* r : first_of_each) {
    const double floor = noise_floor(effects_on[r->device]);
    const record::device& d = r->hardware;
    const bool is_group = d.backend == "group";  // a device counts in its sums once for each rank that shares it
    lines.push_back({html::text(d.name), html::text(shown(d.description)), html::text(shown(d.platform)),
                     html::text(shown(d.driver)), html::text(is_group ? "–" : shown(d.compute_units)),
                     html::text(is_group ? "–" : sized(d.memory_bytes)), html::text(sized(d.cache_bytes)),
                     html::text(floor > 0 ? percent(floor) : "–")});
  }
  return table(
      "Devices. The noise floor comes from measuring the same code twice: a smaller difference does not count. A group "
      "has "
      "the units and the memory of its devices.",
      {"device", "hardware", "platform", "driver", "units", "memory", "last-level cache", "noise floor"}, lines,
      content::words);
}

/// The facts of a part, one row each; lists and objects as JSON.
void add_facts(const json& part, const std::string& name, std::vector<std::vector<html>>& lines) {
  const auto plain = [](const json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); };
  for (const auto& [key, value] : part.items())
    lines.push_back({html::text(name + "." + key), html::text(value.is_null() ? "–" : plain(value))});
}

}  // namespace

html machine_section(const model& m) {
  html whole;
  const auto rows_of = rows_by_machine(m);
  std::size_t shown_machines = 0;
  for (; shown_machines < m.machines.size() && whole.size() < page_limits::section; ++shown_machines) {
    const std::vector<const row*>& rows = rows_of.at(m.machines[shown_machines]);
    const machine& on = rows.front()->on;
    std::vector<std::vector<html>> facts;
    add_facts(record::to_json(on.tool), "tool", facts);
    add_facts(record::to_json(on.host), "host", facts);
    whole += tag("h3", html::sentence(on.name.empty() ? "An unnamed machine" : on.name)) +
             paragraph(shown(on.host.cpu_model) + ", " + shown(on.host.cores) + " cores, " + sized(on.host.ram_bytes) +
                       " of memory, " + shown(on.host.os) + ". Measured " + shown(on.first_time) + " to " +
                       shown(on.last_time) + " with tilewise " + shown(on.tool.version) + ".") +
             device_table(rows) +
             folded("The environment as recorded",
                    table("Host and build, of the first record.", {"field", "value"}, facts, content::words));
  }
  return whole + left_out(m.machines.size() - shown_machines, "machines");
}

html repeat_section(const model& m) {
  std::set<std::string_view> told;
  html lines;
  std::size_t unsaid = 0;
  for (const row& r : m.rows) {
    if (r.command.empty() || !told.insert(r.command).second) continue;
    if (lines.size() < page_limits::list)
      lines += html::sentence(r.command) + "\n";
    else
      ++unsaid;
  }
  if (told.empty()) return {};
  return tag("pre", tag("code", lines)) + left_out(unsaid, "commands");
}

}  // namespace tilewise::report
