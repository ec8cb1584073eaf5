// SPDX-License-Identifier: Apache-2.0
#include "tool/tune/variants.hpp"

#include "lab/bench/describe.hpp"
#include "lab/bench/operand_sets.hpp"
#include "lab/machine/environment.hpp"
#include "registry/tuned.hpp"
#include "report/format.hpp"
#include "tool/analysed_rows.hpp"
#include "tool/bench/output.hpp"
#include "tool/drivers/device_use.hpp"
#include "tool/interrupt.hpp"
#include "tool/output.hpp"
#include "tool/tune/table.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace tilewise::cli {

namespace {

using lab::tuning_case;
using registry::tuned;

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

/// What is kept, in the folder and here.
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

  /// In place of what is kept of the same problem; if it is applied, in place of what is of its size class.
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

/// None if it was interrupted, or has no time.
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
  nlohmann::ordered_json told{{"command", "tune"}, {"problems", nlohmann::ordered_json::array()}};
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
