// The machines, their devices and noise floors; further down the full environment and the commands.
#include "report/findings.hpp"
#include "report/format.hpp"
#include "report/sections.hpp"

#include <algorithm>

namespace tilewise::report {

namespace {

using nlohmann::json;

std::string plain(const json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

std::string shown(const json& record, std::string_view path) {
  const json* found = find(record, path);
  return found ? plain(*found) : "–";
}

std::string sized(const json& record, std::string_view path) {
  const auto value = number_at(record, path);
  return value && *value > 0 ? bytes(*value) : "–";
}

std::vector<const row*> rows_of(const model& m, const std::string& machine) {
  std::vector<const row*> found;
  for (const row& r : m.rows)
    if (r.machine == machine) found.push_back(&r);
  return found;
}

/// The median of what the cases of a device measured; 0 if none did.
double noise_floor(const std::vector<const row*>& rows, const std::string& device) {
  std::vector<double> effects;
  for (const row* r : rows)
    if (r->device == device && r->min_effect) effects.push_back(*r->min_effect);
  std::sort(effects.begin(), effects.end());
  return effects.empty() ? 0 : effects[effects.size() / 2];
}

html device_table(const std::vector<const row*>& rows) {
  std::vector<std::string> seen;
  std::vector<std::vector<html>> lines;
  for (const row* r : rows) {
    if (std::find(seen.begin(), seen.end(), r->device) != seen.end()) continue;
    seen.push_back(r->device);
    const double floor = noise_floor(rows, r->device);
    const json& record = *r->record;
    lines.push_back({html::text(r->device), html::text(shown(record, "device.description")),
                     html::text(shown(record, "device.platform")), html::text(shown(record, "device.driver")),
                     html::text(shown(record, "device.compute_units")),
                     html::text(sized(record, "device.memory_bytes")), html::text(sized(record, "device.cache_bytes")),
                     html::text(floor > 0 ? percent(floor) : "–")});
  }
  return table({"device", "hardware", "platform", "driver", "units", "memory", "last cache", "noise floor"}, lines,
               content::words);
}

/// "key: value" lines of an object, one row each; lists and objects as JSON.
void add_facts(const json& record, std::string_view part, std::vector<std::vector<html>>& lines) {
  const json* object = find(record, part);
  if (!object || !object->is_object()) return;
  for (const auto& [name, value] : object->items())
    lines.push_back({html::text(std::string(part) + "." + name), html::text(value.is_null() ? "–" : plain(value))});
}

std::string quoted(const std::string& word) {
  constexpr std::string_view plain_letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(plain_letters) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string command_of(const json& record) {
  std::string command;
  if (const json* argv = find(record, "argv"); argv && argv->is_array())
    for (const json& word : *argv) command += (command.empty() ? "" : " ") + quoted(plain(word));
  return command;
}

}  // namespace

html machine_section(const model& m) {
  html whole = tag("h2", m.machines.size() == 1 ? html("The machine") : html("The machines"));
  for (const std::string& machine : m.machines) {
    const std::vector<const row*> rows = rows_of(m, machine);
    const json& record = *rows.front()->record;
    whole +=
        paragraph((machine.empty() ? "A machine without a name" : machine) + ": " + shown(record, "host.cpu_model") +
                  ", " + shown(record, "host.cores") + " cores, " + sized(record, "host.ram_bytes") + " of memory, " +
                  shown(record, "host.os") + ". Measured " + shown(record, "time_utc") + " to " +
                  shown(*rows.back()->record, "time_utc") + " with tilewise " + shown(record, "tool.version") + ".");
    whole += device_table(rows);
  }
  return whole + tag("p", {{"class", "note"}},
                     "The noise floor comes from measuring the same code twice: a smaller difference is called none.");
}

html environment_section(const model& m) {
  html whole = tag("h2", "Environment");
  for (const std::string& machine : m.machines) {
    std::vector<std::vector<html>> lines;
    const json& record = *rows_of(m, machine).front()->record;
    add_facts(record, "tool", lines);
    add_facts(record, "host", lines);
    whole +=
        tag("details", tag("summary", html::text("As recorded on " + (machine.empty() ? "the machine" : machine))) +
                           table({"field", "value"}, lines, content::words));
  }
  return whole;
}

html repeat_section(const model& m) {
  std::vector<std::string> commands;
  for (const row& r : m.rows)
    if (const std::string command = command_of(*r.record);
        !command.empty() && std::find(commands.begin(), commands.end(), command) == commands.end())
      commands.push_back(command);
  if (commands.empty()) return {};
  html lines;
  for (const std::string& command : commands) lines += html::text(command + "\n");
  return tag("h2", "How to repeat it") + tag("pre", tag("code", lines));
}

}  // namespace tilewise::report
