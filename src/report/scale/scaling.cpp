// SPDX-License-Identifier: Apache-2.0
#include "report/scale/scaling.hpp"

#include "report/compare/comparison.hpp"
#include "report/format.hpp"

#include <algorithm>
#include <cctype>
#include <map>

namespace tilewise::report {

namespace {

/// The transport between ranks that are threads of one process.
constexpr std::string_view within_process = "threads";

/// The processors that a row used: their kind and their number.
struct crew {
  std::string kind;  // "cpu:threads"; for ranks, the kind of one rank: "cpu:serial", "cuda"
  std::string link;  // between ranks: "threads", "Open MPI 4.1.4"
  std::uint64_t size;
};

/// The kind of a device in a group: "cuda" for "cuda:0", since ranks differ in that number, and for "cuda:*".
std::string kind_of_device(std::string name) {
  if (name.ends_with(":*")) return name.substr(0, name.size() - 2);
  const std::size_t end = name.find_last_not_of("0123456789");
  if (end != name.npos && end + 1 < name.size() && name[end] == ':') name.erase(end);
  return name;
}

/// The kind of the members of "4*mpi:cpu:serial" or "cuda:0+cuda:1"; none if they differ.
std::optional<std::string> kind_of_members(const std::string& group) {
  std::optional<std::string> kind;
  for (std::size_t begin = 0, end = 0; end != group.npos; begin = end + 1) {
    end = group.find('+', begin);
    std::string member = group.substr(begin, end == group.npos ? end : end - begin);
    const std::size_t star = std::min(member.find('*'), member.size());
    if (star + 1 < member.size()) member.erase(0, star + 1);
    if (member.starts_with("mpi:")) member.erase(0, 4);
    member = kind_of_device(member);
    if (kind && *kind != member) return std::nullopt;
    kind = member;
  }
  return kind;
}

std::optional<crew> crew_of(const row& r) {
  if (r.ranks != nullptr) {
    const auto kind = kind_of_members(r.device);
    return kind ? std::optional(crew{*kind, r.ranks->transport, r.ranks->number}) : std::nullopt;
  }
  if (r.is_serial() || r.threads == 0 || r.device == "cpu:serial") return std::nullopt;
  return crew{r.device, "", r.threads};
}

/// All that is equal along a curve except the program, with `n` as the size of one processor's share.
std::string problem_key(const row& r, std::uint64_t n) {
  const std::size_t rest = std::min(r.shape.find('x'), r.shape.size());
  std::string key;
  for (const std::string& part : {r.machine, r.algorithm, r.dtype, r.settings, r.data, r.mode, r.shape.substr(rest)})
    key += part + '\n';
  return key + std::to_string(n);
}

using rows_by_size = std::map<std::uint64_t, const row*>;
struct found_curve {
  crew of;
  std::string problem;  // from problem_key
  rows_by_size rows;
};

std::vector<found_curve> find_curves(std::span<const row* const> rows, scaling_kind kind) {
  std::vector<found_curve> found;
  std::map<std::string, std::size_t> known;
  for (const row* r : rows) {
    const auto of = crew_of(*r);
    if (!of || r->peer || r->is_limit() || !r->timed() || !r->plausible || of->size == 0) continue;
    if (kind == scaling_kind::weak && r->n % of->size != 0) continue;
    const std::string problem = problem_key(*r, kind == scaling_kind::weak ? r->n / of->size : r->n);
    const std::string key = problem + '\n' + of->kind + '\n' + of->link + '\n' + r->variant + '\n' + r->tuning;
    const auto [at, is_new] = known.emplace(key, found.size());
    if (is_new) found.push_back({*of, problem, {}});
    found[at->second].rows[of->size] = r;
  }
  return found;
}

/// The best program on one processor for each curve, found in one pass over all rows.
class bests_on_one {
 public:
  bests_on_one(std::span<const found_curve> curves, std::span<const row* const> rows) {
    for (const found_curve& c : curves) bests_[key_of(c)] = nullptr;
    for (const row* r : rows) {
      if (r->is_limit() || !r->timed() || !r->plausible || r->ranks != nullptr) continue;
      if (r->device == "cpu:serial") take(*r, of_threads);
      if (!r->is_cpu || r->threads == 1) take(*r, kind_of_device(r->device));
    }
  }
  const row* of(const found_curve& c) const { return bests_.at(key_of(c)); }

 private:
  static constexpr const char* of_threads = "";  // for teams of threads of any kind

  static std::string key_of(const found_curve& c) {
    return c.problem + '\n' + (c.of.link.empty() ? of_threads : c.of.kind);
  }

  void take(const row& r, const std::string& kind) {
    const auto best = bests_.find(problem_key(r, r.n) + '\n' + kind);
    if (best == bests_.end()) return;
    if (best->second == nullptr || r.kernel->median < best->second->kernel->median) best->second = &r;
  }

  std::map<std::string, const row*> bests_;
};

interval scaled(const interval& value, double by) {
  const auto end = [by](const std::optional<double>& x) { return x ? std::optional(*x * by) : std::nullopt; };
  return {value.median * by, end(value.low), end(value.high)};
}

interval quotient(const interval& a, const interval& b) {
  const auto end = [](const std::optional<double>& x, const std::optional<double>& y) {
    return x && y ? std::optional(*x / *y) : std::nullopt;
  };
  return {a.median / b.median, end(a.low, b.high), end(a.high, b.low)};
}

scaling_point point_of(const scaling_curve& curve, std::uint64_t size, const row& at, const row* one) {
  const auto p = static_cast<double>(size);
  const double work = curve.kind == scaling_kind::weak ? p : 1;
  scaling_point point{.p = size, .what = &at};
  if (one != nullptr && size == 1) point.over_one = interval{1, 1, 1};
  if (one != nullptr && size > 1) point.over_one = scaled(quotient(*one->kernel, *at.kernel), work);
  if (curve.best != nullptr) {
    point.over_best = scaled(quotient(*curve.best->kernel, *at.kernel), work);
    point.cost = scaled(quotient(*at.kernel, *curve.best->kernel), p / work);
  }
  if (point.over_one) {
    point.efficiency = scaled(*point.over_one, 1 / p);
    point.is_superlinear = point.over_one->low.value_or(point.over_one->median) > p * (1 + at.smallest_effect());
    if (curve.kind == scaling_kind::strong && size > 1) point.serial_fraction = karp_flatt(*point.over_one, p);
  }
  if (at.ranks != nullptr && at.ranks->exchange_ns) point.exchange = *at.ranks->exchange_ns / at.kernel->median;
  return point;
}

/// A 95 % interval extends 1.96 standard errors to each side. The error is never below the noise floor.
timed_point timed(const scaling_point& of) {
  const interval& taken = *of.what->kernel;
  const double half = (*taken.high - *taken.low) / 2 / taken.median;
  return {static_cast<double>(of.p), taken.median, std::max(half, of.what->smallest_effect()) / 1.96};
}

std::vector<scaling_fit> fits_of(const scaling_curve& curve) {
  std::vector<timed_point> times;
  for (const scaling_point& point : curve.points)
    if (point.is_fitted()) times.push_back(timed(point));
  const auto laws = curve.kind == scaling_kind::weak ? std::vector{scaling_law::gustafson}
                                                     : std::vector{scaling_law::amdahl, scaling_law::usl};
  std::vector<scaling_fit> fits;
  for (const scaling_law law : laws)
    if (auto fit = fit_scaling(law, times)) fits.push_back(std::move(*fit));
  std::stable_sort(fits.begin(), fits.end(),
                   [](const scaling_fit& a, const scaling_fit& b) { return a.prediction_error < b.prediction_error; });
  return fits;
}

}  // namespace

bool scaling_point::is_crowded() const {
  if (!what->hardware.is_cpu || (what->ranks != nullptr && what->ranks->transport != within_process)) return false;
  return p > what->on.host.threads.value_or(p);
}

std::uint64_t scaling_curve::last_fitted() const {
  std::uint64_t last = 0;
  for (const scaling_point& point : points)
    if (point.is_fitted()) last = point.p;
  return last;
}

const scaling_fit* scaling_curve::fit(scaling_law law) const {
  const auto found = std::find_if(fits.begin(), fits.end(), [&](const scaling_fit& f) { return f.law == law; });
  return found == fits.end() ? nullptr : &*found;
}

std::vector<scaling_curve> scaling_curves(std::span<const row* const> rows, scaling_kind kind) {
  std::vector<scaling_curve> curves;
  const std::vector<found_curve> all = find_curves(rows, kind);
  const bests_on_one bests(all, rows);
  for (const found_curve& found : all) {
    scaling_curve& curve = curves.emplace_back(scaling_curve{.kind = kind, .processors = found.of.kind});
    if (!found.of.link.empty() && found.of.link != within_process) curve.processors += ", " + found.of.link;
    curve.best = bests.of(found);
    const row* const one = found.rows.begin()->first == 1 ? found.rows.begin()->second : nullptr;
    for (const auto& [size, r] : found.rows) curve.points.push_back(point_of(curve, size, *r, one));
    curve.fits = fits_of(curve);
  }
  std::erase_if(curves, [](const scaling_curve& c) {
    const bool is_of_ranks = c.largest().ranks != nullptr && c.largest().ranks->number > 1;
    return c.points.size() == 1 && !(is_of_ranks && c.best != nullptr);
  });
  return curves;
}

namespace {

/// "3.1 % (2.9 % to 3.3 %)"
template <class Text>
std::string with_interval(const interval& value, const Text& text) {
  std::string all = text(value.median);
  if (value.low && value.high) all += " (" + text(*value.low) + " to " + text(*value.high) + ")";
  return all;
}
/// The points that tell about the program. Where threads take turns, the time depends on the machine.
template <class Has>
std::vector<const scaling_point*> those(const scaling_curve& of, const Has& has) {
  std::vector<const scaling_point*> found;
  for (const scaling_point& point : of.points)
    if (!point.is_crowded() && has(point)) found.push_back(&point);
  return found;
}

std::string three_digits(double value) { return value == 0 ? "0" : significant(value, 3); }
std::string share(double value) { return value == 0 ? "0 %" : percent(value); }

}  // namespace

std::string cost_finding(const scaling_curve& of) {
  constexpr double same = 1.25;  // below it costs are called constant: beyond noise, far below that of lost processors
  const std::vector<const scaling_point*> telling =
      those(of, [](const scaling_point& p) { return p.cost.has_value(); });
  if (telling.empty()) return "";
  const auto [least, most] = std::minmax_element(
      telling.begin(), telling.end(), [](const auto* a, const auto* b) { return a->cost->median < b->cost->median; });
  const double highest = (*most)->cost->median;
  const std::string of_best = " times the work of the best program for one";
  if (telling.size() == 1) return "The cost p T(p) is " + factor(highest) + of_best + ".";
  const std::string text = "The cost p T(p) is " + factor((*least)->cost->median) + " to " + factor(highest) + of_best;
  const interval& first = *telling.front()->cost;
  const auto grows = [&](const auto* p) { return p->cost->low && first.high && *p->cost->low > same * *first.high; };
  const auto stays = [&](const auto* p) { return p->cost->high && first.low && *p->cost->high <= same * *first.low; };
  if (std::any_of(telling.begin(), telling.end(), grows)) return text + ": it grows with p, so not work-optimal here.";
  if (std::all_of(telling.begin(), telling.end(), stays))
    return text + ": it stays within a constant, so work-optimal as far as measured.";
  return text + "; its intervals are too wide to say whether it grows with p.";
}

std::string karp_flatt_finding(const scaling_curve& of) {
  const std::vector<const scaling_point*> telling = those(of, [](const scaling_point& p) {
    return p.serial_fraction && p.serial_fraction->low && p.serial_fraction->high;
  });
  if (telling.size() < 2) return "";
  const interval &first = *telling.front()->serial_fraction, &last = *telling.back()->serial_fraction;
  if (*last.low > *first.high)
    return "Karp and Flatt's serial fraction rises with p: overhead grows, beyond a fixed serial part.";
  if (*last.high < *first.low)
    return "Karp and Flatt's serial fraction falls with p: no serial part explains these times.";
  return "Karp and Flatt's serial fraction is flat within its intervals: a fixed serial part can explain it.";
}

std::string superlinear_finding(const scaling_curve& of) {
  std::string at;
  for (const scaling_point& point : of.points)
    if (point.is_superlinear) at += (at.empty() ? "" : ", ") + count(point.p);
  return at.empty()
             ? ""
             : "cache: more than p times as fast at p = " + at + ", as each share fits caches that the whole does not.";
}

std::string crowding_finding(const scaling_curve& of) {
  if (!of.points.back().is_crowded()) return "";
  const std::uint64_t processors = *of.largest().on.host.threads;
  return "The machine has " + count(processors) + (processors == 1 ? " processor" : " processors") +
         ": beyond that, threads take turns and say nothing of the program.";
}

std::string fit_finding(const scaling_fit& of) {
  std::string text = name_of(of.law) + std::string(": ") +
                     (of.law == scaling_law::usl ? "contention " : "serial part ") + with_interval(of.serial, share);
  if (of.law == scaling_law::amdahl && of.serial.median > 0)
    text += ", at most " + factor(1 / of.serial.median) + " times as fast";
  if (of.law == scaling_law::usl) text += ", coherency " + with_interval(of.coherency, three_digits);
  if (of.peak) text += ", the fastest at p = " + with_interval(*of.peak, three_digits);
  return text;
}

std::string extrapolation_finding(const scaling_curve& of) {
  if (of.fits.empty()) return "";
  const scaling_fit& best = of.fits.front();
  const std::uint64_t p = extrapolation * of.last_fitted();
  const std::string times = factor(best.speedup(static_cast<double>(p)));
  return "By " + std::string(name_of(best.law)) + ", p = " + count(p) + " would " +
         (of.kind == scaling_kind::weak ? "do " + times + " times the work of one in a time"
                                        : "be " + times + " times as fast as one") +
         "; that was not measured.";
}

}  // namespace tilewise::report
