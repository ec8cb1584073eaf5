// SPDX-License-Identifier: Apache-2.0
#include "tool/tune/variants.hpp"

#include "lab/bench/describe.hpp"
#include "lab/bench/operand_sets.hpp"
#include "lab/machine/environment.hpp"
#include "registry/tuned.hpp"
#include "report/format.hpp"
#include "tool/bench/output.hpp"
#include "tool/bench/record_cells.hpp"
#include "tool/drivers/device_use.hpp"
#include "tool/interrupt.hpp"
#include "tool/output.hpp"
#include "tool/rows.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace tilewise::cli {

namespace {

using lab::tuning_case;
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

/// Whether the final had a tuning that might be faster, but not enough time to tell.
bool is_undecided(const tuning_outcome& told) {
  return told.raced && told.raced->candidate != 0 && !told.raced->all[told.raced->candidate].gain->ci95;
}

/// Says why the default is kept although a tuning looks faster in the table: many tunings race before the final, and
/// the fastest of many is partly fast by luck.
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

namespace {

constexpr const char* no_folder =
    "there is no private cache folder to keep tunings in; TILEWISE_CACHE can name one, and `tilewise doctor` says "
    "what is wrong with it";

std::vector<tuning_case> plan_of(const tuning_request& asked) {
  lab::request wanted;
  wanted.base = lab::find_preset("quick");
  wanted.selectors = asked.selectors;
  pose(asked.problems, wanted);
  wanted.devices = open_devices(asked.devices);
  return lab::make_tuning_plan(wanted);
}

exit_code print_plan(const std::vector<tuning_case>& plan, double max_time_s) {
  for (const tuning_case& c : plan)
    print(registry::to_string(c.problem) + ": " + c.by->id() + " on " + c.on->info().name + ", " +
          std::to_string(c.tunings.size()) + (c.tunings.size() == 1 ? " tuning\n" : " tunings\n"));
  const auto raced = std::count_if(plan.begin(), plan.end(), [](const tuning_case& c) { return c.tunings.size() > 1; });
  print(std::to_string(raced) + (raced == 1 ? " race" : " races") + ", about " +
        report::duration(static_cast<double>(raced) * max_time_s * 1e9) +
        ", and up to a minute more each where a driver compiles\n");
  return exit_code::ok;
}

/// The kept tunings, in the private folder and in this process.
class tuning_store {
 public:
  explicit tuning_store(bool quiet) {
    registry::kept_tunings kept = registry::read_tunings();
    all_ = std::move(kept.all);
    if (!kept.fault.empty() && !quiet) note("tilewise: the tunings that were kept are not used: " + kept.fault);
  }

  const tuned* find(const tuning_case& c) const {
    const auto found = std::find_if(all_.begin(), all_.end(), [&](const tuned& t) { return is_of(t, c); });
    return found == all_.end() ? nullptr : &*found;
  }

  /// Replaces what is kept for the same problem. If the tuning is applied, it replaces the one of its size class.
  void keep(const tuned& found, const tuning_case& c) {
    std::erase_if(all_, [&](const tuned& t) { return is_of(t, c); });
    if (found.is_applied)
      for (tuned& t : all_)
        if (t.device == found.device && t.holds_for(*c.by, c.problem)) t.is_applied = false;
    all_.push_back(found);
    is_kept_ &= registry::write_tunings(all_);
  }

  bool is_kept() const { return is_kept_; }

 private:
  static bool is_of(const tuned& t, const tuning_case& c) {
    return t.holds_for(*c.by, c.problem) && t.problem.shape == c.problem.shape &&
           t.device == registry::key_of_device(c.on->info());
  }

  std::vector<tuned> all_;
  bool is_kept_ = true;
};

/// None if the race was interrupted or has no time.
std::optional<tuned> found_in(const lab::race_result& raced, const tuning_case& c, const analysed_rows& output) {
  const lab::raced &first = raced.all.front(), &best = raced.all[raced.best];
  if (first.last.time() == nullptr || interrupt_requested()) return std::nullopt;
  tuned found{.device = registry::key_of_device(c.on->info()),
              .by = c.by,
              .problem = c.problem,
              .best = best.tuning,
              .time_utc = output.all().back().result.time_utc,
              .default_ns = *first.last.time()->median_ns};
  if (raced.best != 0)
    found.gain = best.gain->median, found.gain_lo = best.gain->ci95->lo, found.gain_hi = best.gain->ci95->hi;
  return found;
}

lab::race_result raced_now(const tuning_case& c, const lab::measuring& how, double budget_ns) {
  const lab::group first{c.problem, c.on->info().name, {{c.by, c.on, c.tunings.front()}}};
  if (const std::string shortage = lab::memory_shortage(first, how); !shortage.empty())
    return {.all = {{.tuning = c.tunings.front(), .last = lab::describe_shortage(first, how, shortage).front()}}};
  return lab::race(c, lab::make_case(c.problem, lab::data_for(c.problem), how.seed), how, budget_ns);
}

tuning_outcome outcome_of(const tuning_case& c, const tuning_request& asked, tuning_store& kept,
                          analysed_rows& output) {
  tuning_outcome told{&c, std::nullopt};
  if (c.tunings.size() == 1) return told;
  if (const tuned* before = kept.find(c)) {
    told.found = *before;
    if (before->is_applied || !asked.apply) return told;
  } else {
    output.tell(registry::to_string(c.problem) + ", " + std::to_string(c.tunings.size()) + " tunings of " + c.by->id() +
                " on " + c.on->info().name);
    const double budget_ns = asked.max_time_s * 1e9;
    told.raced = raced_now(c, measuring_for("normal", asked.max_time_s), budget_ns);
    for (const lab::raced& r : told.raced->all)
      if (r.stage > 0 || told.raced->all.size() == 1) output.keep(r.last);
    told.found = found_in(*told.raced, c, output);
  }
  if (!told.found) return told;
  told.found->is_applied |= asked.apply;
  kept.keep(*told.found, c);
  return told;
}

}  // namespace

exit_code tune_variants(const tuning_request& asked, const std::vector<std::string>& argv) {
  const std::vector<tuning_case> plan = plan_of(asked);
  if (asked.dry_run) return print_plan(plan, asked.max_time_s);
  if (asked.apply && !registry::can_keep_tunings()) throw error(errc::io, no_folder);
  if (!lab::is_release_build()) note("tilewise: WARNING: this is not a Release build; its times say nothing");
  take_interrupts();
  analysed_rows output(asked.records, asked.devices.quiet, argv);
  tuning_store kept(asked.devices.quiet);
  ordered_json told{{"command", "tune"}, {"problems", ordered_json::array()}};
  for (const tuning_case& c : plan) {
    if (interrupt_requested()) break;
    const tuning_outcome outcome = outcome_of(c, asked, kept, output);
    progress("");
    asked.json ? told["problems"].push_back(to_json(outcome))
               : print((&c == &plan.front() ? "" : "\n") + tuning_block(outcome, asked.verbose));
  }
  told["kept"] = kept.is_kept();
  if (asked.json) print_json(told);
  if (asked.apply && !kept.is_kept()) throw error(errc::io, no_folder);
  if (!kept.is_kept() && !asked.devices.quiet) note(std::string("tilewise: nothing is kept: ") + no_folder);
  return output.all().empty() && !interrupt_requested() ? exit_code::ok : judged(output.all());
}

exit_code forget_tunings(const std::vector<std::string>& selectors, bool json) {
  std::vector<lab::tunable> meant;
  for (const std::string& name : selectors)
    for (const lab::tunable& t : lab::tunables_called(name)) meant.push_back(t);
  const auto is_meant = [&](const tuned& t) {
    return selectors.empty() || std::any_of(meant.begin(), meant.end(), [&](const lab::tunable& m) {
             return m.by == nullptr ? m.what == t.problem.what : m.by == t.by;
           });
  };
  const registry::kept_tunings kept = registry::read_tunings();
  std::vector<tuned> all = kept.all;
  const std::size_t forgotten = std::erase_if(all, is_meant);
  if ((forgotten > 0 || !kept.fault.empty()) && !registry::write_tunings(all)) throw error(errc::io, no_folder);
  if (json)
    print_json({{"command", "tune"}, {"forgotten", forgotten}, {"kept", all.size()}});
  else
    print(report::count(forgotten) + (forgotten == 1 ? " tuning is" : " tunings are") + " forgotten, " +
          report::count(all.size()) + (all.size() == 1 ? " stays" : " stay") + "\n");
  return exit_code::ok;
}

}  // namespace tilewise::cli
