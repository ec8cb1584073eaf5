// What was not measured, and what to treat with care.
#include "report/findings.hpp"
#include "report/format.hpp"
#include "report/sections.hpp"

#include "registry/catalog.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace tilewise::report {

namespace {

/// Variants of this build's catalog that no record names.
std::vector<std::vector<html>> never_tried(const model& m) {
  std::set<std::string_view> there;
  for (const row& r : m.rows) there.insert(r.variant);
  std::vector<std::vector<html>> lines;
  for (const registry::variant& v : registry::variants()) {
    const std::string id = v.id();
    if (!there.contains(id))
      lines.push_back(
          {html::text(id), "all", "it has no record: its device was missing, or the run did not include it"});
  }
  return lines;
}

/// "1,024 to 67,108,865" for equal reasons.
std::string range(const std::map<std::pair<std::uint64_t, std::string>, std::string>& sizes) {
  const std::string &first = sizes.begin()->second, &last = sizes.rbegin()->second;
  return sizes.size() == 1 ? first : first + " to " + last;
}
std::vector<std::vector<html>> given_up(const model& m) {
  std::map<std::vector<std::string>, std::map<std::pair<std::uint64_t, std::string>, std::string>> sizes_of;
  for (const row& r : m.rows)
    if (!r.is_ok() && r.status != record::status::wrong)
      sizes_of[{r.variant + " on " + r.device + ", " + r.dtype + " " + r.settings, why_untimed(r)}][{r.n, r.shape}] =
          r.size();
  std::vector<std::vector<html>> lines;
  for (const auto& [key, sizes] : sizes_of)
    lines.push_back({html::text(key[0]), html::text(range(sizes)), html::text(key[1])});
  return lines;
}

std::string name_of(const row& r) { return r.variant + " on " + r.device + " at " + r.at(); }

void warn_of_row(const row& r, std::vector<std::string>& warnings) {
  if (r.wrong()) {
    std::string text = name_of(r) + " is WRONG; its time is not shown.";
    if (!r.reason.empty()) text += " " + r.reason;
    warnings.push_back(text);
  } else if (r.timed() && !r.plausible) {
    const std::string why = r.reason.empty() ? "it is faster than its measured ceiling allows" : r.reason;
    warnings.push_back(name_of(r) + " cannot be true: " + why + "; it is drawn hollow and not ranked.");
  }
}

void warn_of_machine(const row& r, std::set<std::string>& told, std::vector<std::string>& warnings) {
  const auto add = [&](const std::string& text) {
    const std::string whole = (r.machine.empty() ? "The machine" : r.machine) + text;
    if (told.insert(whole).second) warnings.push_back(whole);
  };
  if (!r.governor.empty() && r.governor != "performance")
    add(" ran under the clock governor '" + r.governor + "'; times may vary with the clock.");
  if (r.is_busy) add(" was busy when a case began: its load was over a quarter of its processors.");
  if (r.is_dirty) add(" measured a build with uncommitted changes.");
  if (!r.build_type.empty() && r.build_type != "Release")
    add(" measured a " + r.build_type + " build; only the speeds of Release builds mean anything.");
}

std::size_t wide_intervals(const model& m) {
  return static_cast<std::size_t>(std::count_if(m.rows.begin(), m.rows.end(), [](const row& r) {
    return r.timed() &&
           (!r.kernel->low || !r.kernel->high || (*r.kernel->high - *r.kernel->low) / 2 > 0.05 * r.kernel->median);
  }));
}

}  // namespace

html gap_section(const model& m) {
  std::vector<std::vector<html>> lines = given_up(m);
  for (auto& line : never_tried(m)) lines.push_back(std::move(line));
  if (lines.empty()) return tag("h2", "Not measured") + paragraph("Every variant of the catalog has a record.");
  return tag("h2", "Not measured") + table({"variant", "size", "why"}, lines, content::words);
}

html warning_section(const model& m) {
  std::vector<std::string> warnings = m.warnings;
  for (const row& r : m.rows) warn_of_row(r, warnings);
  std::set<std::string> told;
  for (const row& r : m.rows) warn_of_machine(r, told, warnings);
  if (const std::size_t wide = wide_intervals(m); wide > 0)
    warnings.push_back(count(wide) + (wide == 1 ? " time has" : " times have") +
                       " no interval or one wider than ± 5 %; run longer to trust them.");
  if (warnings.empty()) return {};
  std::vector<html> items;
  for (const std::string& text : warnings) items.push_back(html::sentence(text));
  return tag("h2", {{"id", "warnings"}}, "Warnings") + list("ol", {{"class", "warnings"}}, items);
}

}  // namespace tilewise::report
