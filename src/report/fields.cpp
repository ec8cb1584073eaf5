// A record's fields, read without trust: a field of another type than the schema's counts as absent.
#include "report/model.hpp"

#include "registry/catalog.hpp"
#include "report/format.hpp"

#include <algorithm>

namespace tilewise::report {

using nlohmann::json;

const json* find(const json& record, std::string_view path) {
  const json* at = &record;
  while (!path.empty()) {
    if (!at->is_object()) return nullptr;
    const std::size_t dot = std::min(path.find('.'), path.size());
    const auto found = at->find(std::string(path.substr(0, dot)));
    if (found == at->end() || found->is_null()) return nullptr;
    at = &*found;
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return at;
}

std::string text_at(const json& record, std::string_view path) {
  const json* found = find(record, path);
  return found && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<double> number_at(const json& record, std::string_view path) {
  const json* found = find(record, path);
  return found && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

namespace {

std::uint64_t count_at(const json& record, std::string_view path) {
  const json* found = find(record, path);
  return found && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

bool flag_at(const json& record, std::string_view path, bool otherwise) {
  const json* found = find(record, path);
  return found && found->is_boolean() ? found->get<bool>() : otherwise;
}

/// A time or a ratio: only positive medians are measurements.
std::optional<interval> interval_at(const json& record, std::string_view path, const char* median, const char* low,
                                    const char* high) {
  const json* found = find(record, path);
  if (!found) return std::nullopt;
  const auto middle = number_at(*found, median);
  if (!middle || !(*middle > 0)) return std::nullopt;
  return interval{*middle, number_at(*found, low), number_at(*found, high)};
}

/// The catalog's order of an algorithm's settings, then those that this build does not know.
std::vector<std::string> setting_names(const json& all, const std::string& algorithm) {
  std::vector<std::string> names;
  for (const registry::algorithm* known : registry::algorithms())
    for (const registry::setting& s : known->settings)
      if (known->name == algorithm && all.contains(std::string(s.name))) names.emplace_back(s.name);
  for (const auto& [name, value] : all.items())
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  return names;
}

std::string settings_of(const json& record) {
  const json* all = find(record, "case.settings");
  if (!all || !all->is_object()) return "";
  std::string text;
  for (const std::string& name : setting_names(*all, text_at(record, "case.algorithm"))) {
    const json& value = all->at(name);
    text += (text.empty() ? "" : " ") + name + "=" + (value.is_string() ? value.get<std::string>() : value.dump());
  }
  return text;
}

/// As registry::to_string(extents).
std::string shape_of(const json& record, std::uint64_t n) {
  std::string text;
  if (const json* sizes = find(record, "case.shape"); sizes && sizes->is_array())
    for (const json& size : *sizes) text += (text.empty() ? "" : "x") + size.dump();
  return text.empty() ? std::to_string(n) : text;
}

std::vector<ratio> ratios_of(const json& record) {
  std::vector<ratio> all;
  if (const json* list = find(record, "ratios"); list && list->is_array())
    for (const json& entry : *list)
      if (const auto value = interval_at(entry, "", "median", "ci95_lo", "ci95_hi"))
        all.push_back({text_at(entry, "to"), text_at(entry, "device"), *value});
  return all;
}

}  // namespace

row make_row(const json& record) {
  const auto time = [&](const char* clock) {
    return interval_at(record, std::string("timing.") + clock, "median_ns", "ci95_lo_ns", "ci95_hi_ns");
  };
  row r;
  r.record = &record;
  r.group = text_at(record, "case.group");
  r.algorithm = text_at(record, "case.algorithm");
  r.variant = text_at(record, "case.variant");
  r.backend = text_at(record, "case.backend");
  r.device = text_at(record, "device.name");
  r.dtype = text_at(record, "case.dtype");
  r.settings = settings_of(record);
  r.tuning = text_at(record, "case.tuning");
  r.mode = text_at(record, "case.mode");
  r.data = text_at(record, "case.data");
  // Rented machines share host names.
  r.machine = text_at(record, "host.hostname") + " (" + text_at(record, "host.cpu_model") + ")";
  r.status = text_at(record, "status");
  r.reason = text_at(record, "reason");
  r.digest = text_at(record, "verify.digest");
  r.source = text_at(record, "case.source");
  r.n = count_at(record, "case.n");
  r.shape = shape_of(record, r.n);
  r.threads = count_at(record, "case.threads");
  r.seed = count_at(record, "case.seed");
  r.is_cpu = text_at(record, "device.backend") == "cpu";
  r.peer = flag_at(record, "case.peer", false);
  r.own_order = text_at(record, "case.order") == "own";
  r.plausible = flag_at(record, "derived.plausible", true);
  r.verified = flag_at(record, "verify.ok", false);
  r.kernel = time("kernel");
  r.h2d = time("h2d");
  r.d2h = time("d2h");
  r.round_trip = time("round_trip");
  r.bytes_per_s = number_at(record, "derived.bytes_per_s");
  r.elements_per_s = number_at(record, "derived.elements_per_s");
  r.operations_per_s = number_at(record, "derived.operations_per_s");
  r.fraction = number_at(record, "derived.fraction_of_ceiling");
  r.min_effect = number_at(record, "noise.min_effect");
  if (find(record, "verify.changed_outputs")) r.changed = count_at(record, "verify.changed_outputs");
  r.ratios = ratios_of(record);
  return r;
}

std::string row::size() const { return shape.find('x') == shape.npos ? count(n) : shape; }
std::string row::at() const { return shape.find('x') == shape.npos ? "n\u00a0=\u00a0" + count(n) : shape; }

std::string short_name(const std::string& variant) {
  const std::size_t slash = variant.find('/');
  return slash == std::string::npos ? variant : variant.substr(slash + 1);
}

}  // namespace tilewise::report
