// SPDX-License-Identifier: Apache-2.0
// What a curve over processors says, in sentences.
#include "report/format.hpp"
#include "report/scale/scaling.hpp"

#include <algorithm>

namespace tilewise::report {

namespace {

/// "3.1 % (2.9 % to 3.3 %)"
template <class Text>
std::string with_interval(const interval& value, const Text& text) {
  std::string all = text(value.median);
  if (value.low && value.high) all += " (" + text(*value.low) + " to " + text(*value.high) + ")";
  return all;
}
/// The points that say something of the program: where threads take turns, the machine decides.
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
  constexpr double same = 1.25;  // what counts as a constant: above the noise, and far below what lost processors cost
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
