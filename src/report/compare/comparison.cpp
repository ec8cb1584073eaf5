// SPDX-License-Identifier: Apache-2.0
#include "report/compare/comparison.hpp"

#include "report/compare/noise.hpp"
#include "report/findings.hpp"
#include "report/format.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace tilewise::report {

namespace {

/// With a larger noise floor even a large change would be within the noise, so nothing is called the same.
constexpr double largest_floor = 0.05;

interval inverse(const interval& i) {
  const auto over = [](std::optional<double> value) { return value ? std::optional(1 / *value) : std::nullopt; };
  return {1 / i.median, over(i.high), over(i.low)};
}

/// A case without its tuning and threads.
auto choice_key(const row& r) { return std::tie(r.group, r.asked_data, r.variant, r.device, r.mode); }

/// The cases of one file.
struct side {
  explicit side(const measured_cases& cases) {
    for (const row* r : cases.rows) {
      by_key[case_key(*r)] = r;
      of_choice[choice_key(*r)].push_back(r);
    }
  }
  const row* find(const row& like) const {
    const auto found = by_key.find(case_key(like));
    return found == by_key.end() ? nullptr : found->second;
  }
  /// The only row of the case; null if there is none or several.
  const row* only(const row& like) const {
    const auto found = of_choice.find(choice_key(like));
    return found == of_choice.end() || found->second.size() != 1 ? nullptr : found->second.front();
  }

  std::map<decltype(case_key(std::declval<const row&>())), const row*> by_key;
  std::map<decltype(choice_key(std::declval<const row&>())), std::vector<const row*>> of_choice;
};

/// A row that failed does not have its number of threads.
bool may_have_equal_threads(const row& a, const row& b) {
  return a.threads == b.threads || a.threads == 0 || b.threads == 0;
}

/// For a row that was wrong or failed before it was timed, and so lacks its threads: the rows of OLD that are like it
/// except for the threads. Rows that NEW also has are left out, unless that leaves none.
std::vector<const row*> on_any_threads(const row& after, const side& befores, const side& afters) {
  const auto found = befores.of_choice.find(choice_key(after));
  if (after.threads != 0 || !(after.wrong() || after.failed()) || found == befores.of_choice.end()) return {};
  std::vector<const row*> alike = found->second;
  std::erase_if(alike, [&](const row* before) { return before->tuning != after.tuning; });
  std::vector<const row*> lost = alike;
  std::erase_if(lost, [&](const row* before) { return afters.find(*before) != nullptr; });
  return lost.empty() ? alike : lost;
}

/// The rows of OLD to compare with: one, none, or several for a row that lacks its threads.
std::vector<const row*> partners_of(const row& after, const side& befores, const side& afters) {
  if (const row* same = befores.find(after)) return {same};
  const row* only = befores.only(after);
  if (only != nullptr && afters.only(after) == &after && may_have_equal_threads(*only, after)) return {only};
  return on_any_threads(after, befores, afters);
}

/// What is wrong in NEW; empty if nothing is. `before` may be null.
std::string fault_of(const row* before, const row& after) {
  if (after.wrong() && after.runs > 1) return "its runs have different digests, for the same input";
  if (after.wrong()) return "the result is wrong" + (after.reason.empty() ? "" : ": " + after.reason);
  if (before == nullptr) return "";
  if (after.failed() && before->is_ok()) return "failed: " + why_untimed(after);
  if (digests_differ(*before, after)) return "the digest is another one than in OLD, for the same input";
  return "";
}

std::string why_not_compared(const row* before, const row& after) {
  if (before == nullptr) return "only NEW has it";
  if (!before->timed()) return "OLD has no time of it: " + (before->wrong() ? "it was wrong" : why_untimed(*before));
  if (!after.timed()) return "NEW has no time of it: " + why_untimed(after);
  return "";
}

/// How far from its median a ratio may be, by its interval and the noise floor.
double reach_of(const interval& ratio, double noise_floor) {
  return std::max(*ratio.high / ratio.median, ratio.median / *ratio.low) * (1 + noise_floor);
}

/// Whether most of the peers show the difference: alone, one may have been disturbed.
bool is_seen_by_most(verdict difference, std::span<const relative_time> beside) {
  const auto seen = std::count_if(beside.begin(), beside.end(),
                                  [&](const relative_time& of) { return judged(inverse(of.ratio), 0) == difference; });
  return beside.empty() || 2 * static_cast<std::size_t>(seen) > beside.size();
}

/// The change relative to the steadiest peer, if that is steadier than the time.
std::optional<relative_time> steadier_than_time(const compared_case& c, double own_noise,
                                                std::span<const relative_time> beside) {
  if (beside.empty()) return std::nullopt;
  relative_time steadiest = beside.front();
  steadiest.noise_floor = std::max(steadiest.noise_floor, own_noise);
  const bool is_steadier =
      !c.ratio->low || reach_of(steadiest.ratio, steadiest.noise_floor) < reach_of(*c.ratio, c.noise_floor);
  return is_steadier ? std::optional(steadiest) : std::nullopt;
}

/// Two times that agree within the noise of their own runs are the same, however badly the machine repeats times. A
/// difference counts only beyond the noise floor of the comparison.
void judge(compared_case& c, double own_noise, std::span<const relative_time> beside) {
  const bool agree = c.ratio->low && judged(inverse(*c.ratio), own_noise) == verdict::same;
  if (!is_plausible(c)) {
    c.why = "a time that cannot be true";
    return;
  }
  if (!agree) c.relative = steadier_than_time(c, own_noise, beside);
  if (!c.relative && !c.ratio->low) {
    c.why = "too few samples for an interval";
    return;
  }
  c.is = agree        ? verdict::same
         : c.relative ? judged(inverse(c.relative->ratio), c.relative->noise_floor)
                      : judged(inverse(*c.ratio), c.noise_floor);
  const bool differs = c.is == verdict::faster || c.is == verdict::slower;
  if (!differs || is_seen_by_most(c.is, beside)) return;
  c.is = verdict::unclear;
  c.why = "relative to most peers beside it there is no such difference";
}

/// Computes the noise floor of each case, and its verdict.
void judge_all(comparison& of) {
  const control_effects controls(of.cases);
  const visit_effects visits(of.cases);
  const relative_times relative(of.cases);
  std::map<std::string_view, std::vector<double>> floors;
  for (compared_case& c : of.cases) {
    if (!c.ratio) continue;
    const double own_noise = c.noise_floor;
    c.usual_noise =
        std::max({own_noise, controls.in_group(*c.after), visits.usual(c).value_or(controls.on_processor(*c.after))});
    const bool one_run = std::min(c.before->runs, c.after->runs) == 1;
    c.noise_floor = one_run ? std::max(c.usual_noise, visits.rare(c)) : c.usual_noise;
    judge(c, own_noise, relative.of(c));
    floors[processor_of(*c.after)].push_back(c.relative ? c.relative->noise_floor : c.noise_floor);
  }
  for (auto& [processor, all] : floors)
    if (const double half = bound_of(all, 0.5); half > largest_floor)
      of.remarks.push_back("NOISY: on " + clipped(processor, page_limits::name) + " differences below " +
                           (half < 1 ? percent(half) : "a factor of " + significant(1 + half, 2)) +
                           " say nothing in half of the rows or more; times of the same code differ by as much there.");
}

/// `one_of_several`: one of several rows of OLD that differ only in their threads.
void add(const row* before, const row& after, bool one_of_several, comparison& to) {
  compared_case c{.before = before, .after = &after};
  c.noise_floor = std::max(after.smallest_effect(), before != nullptr ? before->smallest_effect() : 0);
  c.why = fault_of(before, after);
  if (!c.why.empty()) {
    c.is = verdict::wrong;
    if (one_of_several) c.why += "; OLD has it on " + report::count(before->threads) + " threads";
  } else if (std::string why = why_not_compared(before, after); !why.empty()) {
    to.left_out.push_back({&after, std::move(why)});
    return;
  } else {
    c.ratio = ratio_of(*after.kernel, *before->kernel);
  }
  to.cases.push_back(std::move(c));
}

/// Sentences about pairs of rows. Each is printed once.
class difference_list {
 public:
  void add_pair(const row& before, const row& after) {
    const record::host &old = before.on.host, &host = after.on.host;
    add("the name of the machine", old.hostname, host.hostname);
    add("the processor of the machine", old.cpu_model.value_or(""), host.cpu_model.value_or(""));
    add("the cache of the machine", cache_sizes(old), cache_sizes(host));
    add("the hardware of " + after.device, before.hardware.description, after.hardware.description);
    add("the driver of " + after.device, before.hardware.driver.value_or(""), after.hardware.driver.value_or(""));
    add("the build type", before.build_type, after.build_type);
    add("the version of the order", std::to_string(before.on.tool.order_version),
        std::to_string(after.on.tool.order_version));
  }
  std::vector<std::string> take() {
    if (told_.size() > most) sentences_.push_back("DIFFERENT: " + report::count(told_.size() - most) + " more facts.");
    return std::move(sentences_);
  }

 private:
  static constexpr std::size_t most = 10;

  void add(const std::string& what, const std::string& before, const std::string& after) {
    if (before == after || !told_.emplace(what, before, after).second || told_.size() > most) return;
    const auto shown = [](const std::string& text) {
      return text.empty() ? "unknown" : "'" + clipped(text, page_limits::name) + "'";
    };
    sentences_.push_back("DIFFERENT: " + clipped(what, page_limits::name) + " is " + shown(before) + " in OLD and " +
                         shown(after) + " in NEW.");
  }

  std::set<std::tuple<std::string, std::string, std::string>> told_;
  std::vector<std::string> sentences_;
};

/// Whether the machine was busy before the run began; later load is the run's own.
void tell_of_file(const std::string& file, const row_table& rows, const measured_cases& of, comparison& to) {
  if (!rows.empty() && rows[0].is_busy) {
    const record::host& host = rows[0].on.host;
    to.remarks.push_back("BUSY: " + file + " began at a load of " + significant(*host.load_avg_1m, 2) + " on " +
                         report::count(*host.threads) + " processors; its times may be those of other programs.");
  }
  if (of.replaced == 0) return;
  std::string reasons;
  for (const std::string_view why : of.why_replaced) reasons += (reasons.empty() ? "" : ", or ") + std::string(why);
  to.remarks.push_back(
      file + " has " + report::count(of.replaced) + (of.replaced == 1 ? " record of a case" : " records of cases") +
      " that a later one repeats and that cannot be taken with it: " + reasons + "; the last of each counts.");
}

double squared(double x) { return x * x; }

}  // namespace

verdict judged(const interval& speed, double smallest_effect) {
  if (!speed.low || !speed.high) return verdict::unclear;
  if (*speed.low > 1 + smallest_effect) return verdict::faster;
  if (*speed.high < 1 / (1 + smallest_effect)) return verdict::slower;
  const bool within = *speed.low >= 1 / (1 + smallest_effect) && *speed.high <= 1 + smallest_effect;
  return within && smallest_effect <= largest_floor ? verdict::same : verdict::unclear;
}

verdict judged_in_turns(const interval& speed, double smallest_effect) {
  constexpr double on_a_par = 1.05;
  const verdict beyond_noise = judged(speed, smallest_effect);
  if (!speed.low || !speed.high || beyond_noise == verdict::faster || beyond_noise == verdict::slower)
    return beyond_noise;
  if (*speed.low >= 1 / on_a_par && *speed.high <= on_a_par) return verdict::same;
  return *speed.low > 1 ? verdict::faster : *speed.high < 1 ? verdict::slower : verdict::unclear;
}

std::size_t comparison::count(verdict v) const {
  return static_cast<std::size_t>(
      std::count_if(cases.begin(), cases.end(), [&](const compared_case& c) { return c.is == v; }));
}

comparison compare(const row_table& before, const row_table& after) {
  comparison result;
  result.before = cases_of(before), result.after = cases_of(after);
  const side befores(result.before), afters(result.after);
  difference_list differences;
  std::set<const row*> paired;
  for (const row* r : result.after.rows) {
    const std::vector<const row*> partners = partners_of(*r, befores, afters);
    if (partners.empty()) add(nullptr, *r, false, result);
    for (const row* partner : partners) {
      add(partner, *r, partners.size() > 1, result);
      paired.insert(partner);
      differences.add_pair(*partner, *r);
    }
  }
  for (const row* r : result.before.rows)
    if (!paired.contains(r)) result.left_out.push_back({r, "only OLD has it"});
  result.pairs = paired.size();
  result.remarks = differences.take();
  judge_all(result);
  tell_of_file("OLD", before, result.before, result);
  tell_of_file("NEW", after, result.after, result);
  std::stable_sort(result.cases.begin(), result.cases.end(),
                   [](const compared_case& a, const compared_case& b) { return a.is < b.is; });
  return result;
}

std::optional<mean_ratio> mean_of(std::span<const compared_case> cases, bool of_peers) {
  struct shift {
    std::size_t rows = 0;
    double floor = 0;
  };
  std::map<std::string_view, shift> groups;
  double sum = 0, below = 0, above = 0, count = 0;
  for (const compared_case& c : cases) {
    if (c.after->peer != of_peers || c.after->is_limit() || !c.ratio || !c.ratio->low || !is_plausible(c)) continue;
    sum += std::log(c.ratio->median);
    below += squared(std::log(c.ratio->median / *c.ratio->low));
    above += squared(std::log(*c.ratio->high / c.ratio->median));
    shift& of_group = groups[c.after->group];
    of_group.rows += 1;
    of_group.floor = std::max(of_group.floor, c.usual_noise);
    count += 1;
  }
  if (count == 0) return std::nullopt;
  double shifts = 0;
  for (const auto& [name, s] : groups) shifts += squared(static_cast<double>(s.rows) * std::log1p(s.floor));
  const double mean = std::exp(sum / count);
  return mean_ratio{
      static_cast<std::size_t>(count),
      {mean, mean * std::exp(-std::sqrt(below + shifts) / count), mean * std::exp(std::sqrt(above + shifts) / count)}};
}

}  // namespace tilewise::report
