// SPDX-License-Identifier: Apache-2.0
// The machines: one line each for the first screen. Further down, their devices and noise floors, the full environment,
// and the commands.
#include "base/printable.hpp"
#include "record/json.hpp"
#include "report/findings.hpp"
#include "report/format.hpp"
#include "report/sections/sections.hpp"

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

/// The median noise floor of a device's cases; 0 if none was measured.
double noise_floor(std::vector<double> effects) {
  std::sort(effects.begin(), effects.end());
  return effects.empty() ? 0 : effects[effects.size() / 2];
}

/// "1,024, in multiples of 32"
std::string groups_of(const record::device& d) {
  if (!d.max_group_size) return "–";
  return count(*d.max_group_size) + (d.group_multiple ? ", in multiples of " + count(*d.group_multiple) : "");
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
    const bool is_group = d.backend == "group";  // ranks that share a device count it several times
    lines.push_back({html::text(d.name), html::text(shown(d.description)), html::text(shown(d.platform)),
                     html::text(shown(d.driver)), html::text(is_group ? "–" : shown(d.compute_units)),
                     html::text(is_group ? "–" : sized(d.memory_bytes)), html::text(sized(d.cache_bytes)),
                     html::text(is_group ? "–" : sized(d.local_memory_bytes)),
                     html::text(is_group ? "–" : groups_of(d)), html::text(floor > 0 ? percent(floor) : "–")});
  }
  return table(
      "Devices. The noise floor comes from measuring the same code twice: a smaller difference does not count. A group "
      "has the units and the memory of its devices. No cache here is measured: runtimes tell of them, and need not "
      "mean "
      "the last one, as NVIDIA’s OpenCL with those in its units. What reading finds stands with what bounds each "
      "device.",
      {"device", "hardware", "platform", "driver", "units", "memory", "cache, as its runtime tells", "local memory",
       "largest group", "noise floor"},
      lines, content::words);
}

/// Adds the facts of a part, one row each; lists and objects as JSON.
void add_facts(const json& part, const std::string& name, std::vector<std::vector<html>>& lines) {
  const auto plain = [](const json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); };
  for (const auto& [key, value] : part.items())
    lines.push_back({html::text(name + "." + key), html::text(value.is_null() ? "–" : plain(value))});
}

/// "cuda:0 and opencl:0 are NVIDIA H200", "opencl:1 is the CPU, as pthread-haswell"
std::vector<std::string> device_phrases(const machine& on, const std::vector<const panel*>& panels) {
  std::map<std::string, std::vector<std::string>> names;
  std::set<std::string> told;
  for (const panel* p : panels)
    for (const board& b : p->boards)
      if (p->machine == on.name && !b.is_cpu && !b.is_group && told.insert(b.name).second)
        names[b.computes_on_cpu ? "the CPU, as " + b.title : b.title].push_back(b.name);
  constexpr std::size_t most_named = 5;
  std::vector<std::string> phrases;
  for (const auto& [title, of_title] : names)
    phrases.push_back(listed(of_title, most_named) + (of_title.size() == 1 ? " is " : " are ") + title);
  return phrases;
}

/// Whether only other devices of the machine were measured, and not its CPU.
bool is_its_cpu_left_out(const machine& on, const model& m) {
  return on.host.cpu_model && std::none_of(m.rows.begin(), m.rows.end(), [&](const row& r) {
           return &r.on == &on && r.hardware.is_cpu && !r.is_limit();
         });
}

std::string machine_sentence(const machine& on, const model& m, const std::vector<const panel*>& panels) {
  std::vector<std::string> parts;
  if (on.host.cores) parts.push_back(count(*on.host.cores) + (*on.host.cores == 1 ? " core" : " cores"));
  if (on.host.ram_bytes) parts.push_back(bytes(static_cast<double>(*on.host.ram_bytes)) + " of memory");
  if (!on.host.caches.empty()) parts.push_back("caches of " + cache_sizes(on.host));
  std::string text = on.name.empty() ? "A machine" : on.name;
  if (!parts.empty()) text += " has " + listed(parts, parts.size());
  for (const std::string& phrase : device_phrases(on, panels)) text += "; " + phrase;
  if (is_its_cpu_left_out(on, m)) text += "; its CPU was not measured";
  const std::string first(base::beginning(on.first_time, 10)), last(base::beginning(on.last_time, 10));
  return text + ". Measured " + first + (first == last ? "" : " to " + last) + " with tilewise " + on.tool.version +
         ".";
}

}  // namespace

html machine_lines(const model& m, const std::vector<const panel*>& panels) {
  constexpr std::size_t most_open = 2, most_machines = 10;
  std::set<const machine*> told;
  html lines;
  for (const row& r : m.rows) {
    if (told.size() == std::min(m.machines.size(), most_machines)) break;
    if (told.insert(&r.on).second) lines += paragraph(machine_sentence(r.on, m, panels));
  }
  lines += left_out(m.machines.size() - told.size(), "machines");
  if (told.size() > most_open) lines = folded("The " + count(m.machines.size()) + " machines", lines);
  return tag("div", {{"class", "machines"}}, lines);
}

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
