// SPDX-License-Identifier: Apache-2.0
#include "tool/tune/table.hpp"

#include "report/format.hpp"
#include "tool/bench/record_cells.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace tilewise::cli {

namespace {

using nlohmann::ordered_json;
using registry::tuned;

constexpr std::size_t tuning_width = 38, few = 6;

std::string text_of(const registry::tuning& t, const registry::variant& by) {
  return registry::to_string(t, by.tuning);
}

/// "1.08 (1.05 to 1.10)"
std::string gain_text(double gain, double lo, double hi) {
  return report::factor(gain) + " (" + report::factor(lo) + " to " + report::factor(hi) + ")";
}

std::string gain_text(const lab::summary& gain) {
  return gain.ci95 ? gain_text(gain.median, gain.ci95->lo, gain.ci95->hi) : report::factor(gain.median);
}

std::string heading_of(const lab::tuning_case& what) {
  return registry::to_string(what.problem) + "\n  " + what.by->id() + " on " + what.on->info().name + ", " +
         std::to_string(what.tunings.size()) +
         (what.tunings.size() == 1 ? " tuning" : " tunings; by default " + text_of(what.tunings.front(), *what.by)) +
         "\n";
}

std::string line_of(const lab::raced& r, const registry::variant& by, bool is_default) {
  const record::clock* const taken = r.last.time();
  const std::string name =
      "  " + left(is_default ? "the default" : registry::changes_of(r.tuning, by.tuning), tuning_width);
  if (taken == nullptr) return name + " " + std::string(name_of(r.last.result.state)) + "\n";
  return name + right(report::duration(*taken->median_ns), 10) + right(spread_of(*taken), 7) +
         (is_default || !r.gain ? "" : "   " + gain_text(*r.gain)) + "\n";
}

std::string lines_of(const lab::race_result& raced, const registry::variant& by, bool all) {
  std::string text =
      "  " + left("tuning", tuning_width) + right("time", 10) + right("+-%", 7) + "   default's time / its\n";
  const std::size_t shown = all ? raced.all.size() : std::min(raced.all.size(), few);
  for (std::size_t i = 0; i < shown; ++i) text += line_of(raced.all[i], by, i == 0);
  if (shown < raced.all.size())
    text += "  ... and " + std::to_string(raced.all.size() - shown) + " more; -v shows them\n";
  return text;
}

/// In the final there was one that might have been faster, but not the time to tell.
bool is_undecided(const tuning_outcome& told) {
  return told.raced && told.raced->candidate != 0 && !told.raced->all[told.raced->candidate].gain->ci95;
}

/// Before the final many race, and the fastest of many is fast by luck too: a line of the table may look like a gain.
std::string why_default(const tuning_outcome& told) {
  if (!told.raced) return "the default stays";
  if (told.raced->candidate == 0) return "the default stays: no other tuning came to the final";
  const record::noise floor = told.raced->all.front().last.result.noise.value_or(record::noise{});
  return "the default stays: another must be faster in the final by more than " +
         report::percent(lab::least_gain_over(floor)) + ", the least that counts here, with its whole interval";
}

std::string verdict_of(const tuning_outcome& told) {
  const tuned& found = *told.found;
  if (found.is_default()) return why_default(told);
  return registry::changes_of(found.best, found.by->tuning) + " is " + report::factor(found.gain) +
         " times as fast as the default (95 %: " + report::factor(found.gain_lo) + " to " +
         report::factor(found.gain_hi) + ")";
}

std::string untried_of(const tuning_outcome& told) {
  if (!told.raced) return "";
  const auto& all = told.raced->all;
  const auto untried = std::count_if(
      all.begin(), all.end(), [](const lab::raced& r) { return r.last.result.state == record::status::skipped; });
  return untried == 0 ? "" : "; " + std::to_string(untried) + " were left out, as a note says";
}

std::string state_of(const tuned& found) {
  if (found.is_default()) return "";
  return found.is_applied ? "; applied" : "; kept, not applied (--apply)";
}

}  // namespace

std::string tuning_block(const tuning_outcome& told, bool all) {
  std::string text = heading_of(*told.what);
  if (told.what->tunings.size() == 1) return text + "  -> there is nothing to choose\n";
  if (told.raced) text += lines_of(*told.raced, *told.what->by, all);
  if (!told.found) return text + "  -> nothing is known of them\n";
  std::string verdict = verdict_of(told);
  if (!told.raced) verdict += ", as measured at " + told.found->time_utc;
  if (is_undecided(told)) verdict += "; the final was too short to tell, --max-time makes it longer";
  verdict += untried_of(told) + state_of(*told.found);
  return text + "  -> " + folded(verdict, 74, "     ") + "\n";
}

ordered_json to_json(const tuning_outcome& told) {
  const registry::variant& by = *told.what->by;
  ordered_json fields{{"problem", registry::to_string(told.what->problem)},
                      {"variant", by.id()},
                      {"device", told.what->on->info().name},
                      {"tunings", told.what->tunings.size()},
                      {"default", text_of(told.what->tunings.front(), by)}};
  if (const auto& found = told.found) {
    fields["best"] = text_of(found->best, by);
    fields["gain"] = {{"median", found->gain}, {"ci95_lo", found->gain_lo}, {"ci95_hi", found->gain_hi}};
    fields["default_ns"] = found->default_ns;
    fields["time_utc"] = found->time_utc;
    fields["applied"] = found->is_applied;
  } else {
    fields["best"] = nullptr;
  }
  if (!told.raced) return fields;
  fields["raced"] = ordered_json::array();
  for (const lab::raced& r : told.raced->all) {
    ordered_json one{{"tuning", text_of(r.tuning, by)}, {"stage", r.stage}, {"status", name_of(r.last.result.state)}};
    if (const record::clock* taken = r.last.time()) one["samples"] = taken->n, one["median_ns"] = *taken->median_ns;
    if (r.last.result.reason) one["reason"] = *r.last.result.reason;
    fields["raced"].push_back(one);
  }
  return fields;
}

}  // namespace tilewise::cli
