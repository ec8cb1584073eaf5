// SPDX-License-Identifier: Apache-2.0
#include "lab/tune/race.hpp"

#include "lab/plan/problems.hpp"
#include "registry/catalog.hpp"
#include "registry/choose.hpp"
#include "registry/meanings.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

namespace tilewise::lab {

namespace {

std::size_t changes_of(const registry::tuning& t, const registry::tuning& preset) {
  std::size_t changes = 0;
  for (std::size_t i = 0; i < t.value.size(); ++i) changes += t.value[i] != preset.value[i];
  return changes;
}

tuning_case case_of(const registry::problem& p, const registry::variant& v,
                    const std::shared_ptr<backend::device>& on) {
  const registry::tuning preset = registry::default_tuning(v.tuning);
  tuning_case c{p, &v, on, {preset}};
  for (const registry::tuning& t : registry::tuning_space(v.tuning))
    if (t != preset && registry::unsupported_reason(v, p, *on, t).empty()) c.tunings.push_back(t);
  std::stable_sort(c.tunings.begin(), c.tunings.end(), [&](const registry::tuning& a, const registry::tuning& b) {
    return changes_of(a, preset) < changes_of(b, preset);
  });
  return c;
}

/// The device's default choice of a variant. Throws `unsupported` if there is none.
const registry::variant& variant_for(const tunable& asked, const registry::problem& p, const backend::device& on) {
  const std::string id = asked.by == nullptr ? "" : asked.by->id();
  return *registry::choose(p, on, {.variant = id}).variant;
}

void refuse_group(const backend::device& on) {
  if (on.info().backend == "group")
    throw error(errc::unsupported, on.info().name +
                                       " is a group, whose ranks must all compute alike, wherever they are; tune the "
                                       "devices that it consists of");
}

}  // namespace

std::vector<tunable> tunables_called(const std::string& name) {
  std::vector<tunable> found;
  std::vector<std::string> known;
  for (const registry::algorithm* a : registry::algorithms()) {
    if (a->name == name) return {{a, nullptr}};
    known.emplace_back(a->name);
    for (const registry::variant* v : registry::variants_of(*a)) {
      if (v->is_called(name)) found.push_back({a, v});
      known.push_back(v->id());
    }
  }
  if (found.empty())
    throw error(errc::invalid_argument, "there is no algorithm and no variant '" + name + "';" +
                                            registry::suggestion(registry::missing::algorithm, name, known));
  return found;
}

std::vector<tuning_case> make_tuning_plan(const request& wanted) {
  std::vector<tunable> all;
  std::vector<const registry::algorithm*> selected;
  for (const std::string& name : wanted.selectors)
    for (const tunable& t : tunables_called(name)) {
      all.push_back(t);
      selected.push_back(t.what);
    }
  refuse_foreign(selected, wanted);
  std::vector<tuning_case> plan;
  std::string refused;
  for (const auto& on : wanted.devices) {
    refuse_group(*on);
    for (const tunable& asked : all) {
      const asked_problems posed = problems_of(*asked.what, wanted);
      if (posed.all.empty() && !posed.refused.empty()) throw error(errc::invalid_argument, posed.refused);
      for (const registry::problem& p : posed.all) try {
          plan.push_back(case_of(p, variant_for(asked, p, *on), on));
        } catch (const error& why) {
          refused = why.what();
        }
    }
  }
  if (plan.empty()) throw error(errc::unsupported, refused.empty() ? "no algorithm named takes these types" : refused);
  return plan;
}

namespace {

constexpr unsigned first_rounds = 6;  // the fewest that give an interval
constexpr double least_gain = 0.01;

/// The share of the race's time for the checks of the first stage. If calls are so long that this limit ends the stage,
/// its warm-up, samples and second check take it to half of the race's time, and all further stages take as much again.
constexpr double share_of_checks = 0.125, least_checks_ns = 2e9, compiling_ns = 60e9;

/// Infinite if there are no times.
double median_of(const std::vector<double>& times) {
  return times.empty() ? std::numeric_limits<double>::infinity() : summarize(times).median;
}

std::span<const double> times_of(const measured& m) {
  const record::clock* const taken = m.time();
  return taken == nullptr ? std::span<const double>() : *taken->samples_ns;
}

class race_track {
 public:
  race_track(const tuning_case& what, const verified_case& inputs, const measuring& how)
      : what_(what), inputs_(inputs), how_(how) {
    how_.with_transfers = false;
    for (const registry::tuning& t : what.tunings) all_.push_back({t});
    running_.resize(all_.size());
    std::iota(running_.begin(), running_.end(), std::size_t{0});
  }

  std::size_t candidates() const { return running_.size() - 1; }
  bool goes_on() const { return candidates() > 0 && !how_.hooks.interrupted(); }

  /// Measures all remaining tunings, each for at most the rule's time.
  void measure(stop_rule rule) {
    how_.rule = rule;
    ++stage_;
    group all{what_.problem, what_.on->info().name, {}};
    for (const std::size_t i : running_) all.rows.push_back({what_.by, what_.on, all_[i].tuning});
    std::vector<measured> rows = measure_group(all, inputs_, how_);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      raced& r = all_[running_[k]];
      r.last = std::move(rows[k]);
      r.stage = stage_;
      if (k > 0) refuse_other_bits(r.last);
      r.gain = ratio_of(times_of(all_.front().last), times_of(r.last));
    }
    const bool is_default_right = all_.front().last.time() != nullptr;
    std::erase_if(running_, [&](std::size_t i) { return i != 0 && (!is_default_right || !all_[i].gain); });
  }

  void leave_behind() {
    std::vector<std::vector<double>> times;
    for (const std::size_t i : running_) {
      const auto taken = times_of(all_[i].last);
      times.emplace_back(taken.begin(), taken.end());
    }
    std::vector<std::size_t> left;
    for (const std::size_t k : going_on(times)) left.push_back(running_[k]);
    running_ = std::move(left);
  }

  race_result result(bool has_final) {
    race_result told{.all = std::move(all_)};
    for (raced& r : told.all)
      if (r.stage == 0 && how_.hooks.interrupted()) r.last.interrupt();
    const auto time = [](const raced& r) { return r.last.time() == nullptr ? 0 : *r.last.time()->median_ns; };
    std::stable_sort(told.all.begin() + 1, told.all.end(), [&](const raced& a, const raced& b) {
      const bool a_has = time(a) > 0, b_has = time(b) > 0;
      if (a_has != b_has) return a_has;
      return a.stage != b.stage ? a.stage > b.stage : time(a) < time(b);
    });
    if (!has_final || candidates() == 0) return told;
    told.candidate = 1;
    const raced& fastest = told.all[1];
    if (fastest.gain && fastest.last.is_ok() &&
        is_gain(*fastest.gain, told.all.front().last.result.noise.value_or(record::noise{})))
      told.best = 1;
    return told;
  }

 private:
  /// A variant with its own order may differ from the definition, but not between its tunings.
  void refuse_other_bits(measured& m) const {
    if (!all_.front().last.is_ok()) return;
    const auto &own = m.result.verify, &first = all_.front().last.result.verify;
    if (!m.is_ok() || !own || !first || own->digest == first->digest) return;
    m.end(record::status::skipped, "its result has other bits than the default's, and no tuning may change them");
  }

  const tuning_case& what_;
  const verified_case& inputs_;
  measuring how_;
  std::vector<raced> all_;
  std::vector<std::size_t> running_;  // the default first
  unsigned stage_ = 0;
};

}  // namespace

std::vector<std::size_t> going_on(std::span<const std::vector<double>> times) {
  std::vector<std::size_t> others(times.size() - 1);
  std::iota(others.begin(), others.end(), std::size_t{1});
  const std::size_t most = (others.size() + 1) / 2;
  const auto is_faster = [&](std::size_t a, std::size_t b) { return median_of(times[a]) < median_of(times[b]); };
  std::stable_sort(others.begin(), others.end(), is_faster);
  const std::size_t fastest = others.empty() || is_faster(0, others.front()) ? 0 : others.front();
  std::erase_if(others, [&](std::size_t i) {
    const auto slower = ratio_of(times[i], times[fastest]);
    return i != fastest && (!slower || (slower->ci95 && slower->ci95->lo > 1));
  });
  others.resize(std::min(others.size(), most));
  others.insert(others.begin(), 0);
  return others;
}

double least_gain_over(const record::noise& floor) {
  return std::max(least_gain, floor.min_effect.value_or(least_gain));
}

bool is_gain(const summary& gain, const record::noise& floor) {
  return gain.ci95 && gain.ci95->lo > 1 + least_gain_over(floor);
}

race_result race(const tuning_case& what, const verified_case& inputs, measuring how, double budget_ns) {
  const bool compiles = what.on->info().backend != "cpu";
  how.first_checks_ns = std::max(share_of_checks * budget_ns, compiles ? compiling_ns : least_checks_ns);
  race_track track(what, inputs, how);
  const auto stages = static_cast<unsigned>(std::bit_width(std::max<std::size_t>(track.candidates(), 1) - 1));
  for (unsigned stage = 0; stage < stages && track.candidates() > 1 && track.goes_on(); ++stage) {
    const std::size_t rounds = std::size_t{first_rounds} << stage;
    const auto measured_rows = static_cast<double>(track.candidates() + 2);  // the default is measured twice
    track.measure(
        {.min_samples = rounds, .min_ns = 0, .max_samples = rounds, .max_ns = budget_ns / 2 / stages / measured_rows});
    track.leave_behind();
  }
  const bool has_final = track.goes_on();
  how.rule.max_ns = budget_ns / 2 / 3;  // for both, and the default once more
  how.rule.min_ns = std::min(how.rule.min_ns, how.rule.max_ns);
  if (has_final) track.measure(how.rule);
  return track.result(has_final);
}

}  // namespace tilewise::lab
