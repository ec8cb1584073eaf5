// SPDX-License-Identifier: Apache-2.0
#include "tool/scale/table.hpp"

#include "report/format.hpp"
#include "tool/bench/record_cells.hpp"
#include "tool/output.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <sstream>
#include <utility>

namespace tilewise::cli {

namespace {

using nlohmann::ordered_json;
using report::interval;
using report::scaling_curve;
using report::scaling_fit;
using report::scaling_kind;
using report::scaling_point;

constexpr std::size_t columns = 80;

/// Half the width of an interval over its value, "1.2%"; empty where there is none.
std::string half_width(const interval& value) {
  if (!value.low || !value.high || *value.low == *value.high) return "";
  return report::significant(50 * (*value.high - *value.low) / value.median, 2) + "%";
}

std::string number_cell(const std::optional<interval>& value, std::size_t width) {
  return right(value ? report::significant(value->median, 3) : "-", width);
}
std::string width_cell(const std::optional<interval>& value) { return right(value ? half_width(*value) : "", 7); }

/// An interval around values near 0 has no share of them.
std::string karp_flatt_cell(const std::optional<interval>& value) {
  if (!value) return "";
  const std::string text = report::significant(value->median, 2);
  return value->low && value->high ? text + "+-" + report::significant((*value->high - *value->low) / 2, 1) : text;
}

std::string line_of_point(const scaling_point& at) {
  const std::string efficiency = at.efficiency ? report::significant(100 * at.efficiency->median, 3) + "%" : "-";
  std::string text = right(report::count(at.p), 5) + right(report::duration(at.what->kernel->median), 9) +
                     width_cell(at.what->kernel) + number_cell(at.over_one, 8) + width_cell(at.over_one) +
                     number_cell(at.over_best, 8) + width_cell(at.over_best) + right(efficiency, 7) +
                     number_cell(at.cost, 7) + right(karp_flatt_cell(at.serial_fraction), 15);
  text.erase(text.find_last_not_of(' ') + 1);
  if (at.is_superlinear) text += "\n      cache: more than p times as fast as one";
  if (at.exchange) text += "\n      exchanging: " + report::percent(*at.exchange) + " of the time";
  return text + "\n";
}

std::string filled_lines(const std::string& sentence) {
  if (sentence.empty()) return "";
  std::istringstream words(sentence);
  std::string lines, line;
  for (std::string word; words >> word; line += word) {
    if (line.empty()) continue;
    if (line.size() + 1 + word.size() > columns)
      lines += std::exchange(line, "  ") + "\n";
    else
      line += ' ';
  }
  return lines + line + "\n";
}

/// "scan.f32  n = 16,777,217  op=sum kind=inclusive init=none"
std::string title_of_curve(const scaling_curve& of) {
  const report::row& r = of.largest();
  const bool is_weak = of.kind == scaling_kind::weak;
  const std::string size = is_weak ? of.points.front().what->size() + " for p = " + report::count(of.points.front().p) +
                                         ", p times the first size"
                                   : r.size();
  return r.algorithm + "." + r.dtype + "  n = " + size + "  " + report::with_data(r.settings, r.asked_data) +
         (r.mode == "hot" ? "" : "  " + r.mode);
}

std::string what_ran(const scaling_curve& of) {
  const report::row& r = of.largest();
  return std::string(of.kind == scaling_kind::weak ? "weak" : "strong") + ": " + r.variant + " on " + of.processors +
         (r.tuning.empty() ? "" : ", " + r.tuning) + ", " + r.machine;
}

std::string what_is_best(const scaling_curve& of) {
  if (of.best == nullptr) return "No program for one processor was measured, so there is no T_s.";
  return "best for one, T_s: " + of.best->variant + " @" + of.best->device + (of.best->peer ? " (peer)" : "") + ", " +
         report::duration(of.best->kernel->median);
}

std::string what_fits(const scaling_curve& of) {
  const auto fitted = std::count_if(of.points.begin(), of.points.end(), [](const auto& p) { return p.is_fitted(); });
  if (of.fits.empty())
    return filled_lines("No fit: a law needs times with intervals at " +
                        std::to_string(report::least_points(report::scaling_law::amdahl)) +
                        " numbers of processors or more, and there are " + std::to_string(fitted) + ".");
  std::string text;
  for (const scaling_fit& f : of.fits)
    text += filled_lines(report::fit_finding(f) + "; misses times by " + report::percent(f.misfit) +
                         ", those left out of the fit by " + report::percent(f.prediction_error) + ".");
  return text;
}

ordered_json interval_json(const std::optional<interval>& value) {
  if (!value) return nullptr;
  ordered_json told{{"value", value->median}, {"ci95", nullptr}};
  if (value->low && value->high) told["ci95"] = {*value->low, *value->high};
  return told;
}

ordered_json to_json(const scaling_point& at) {
  return {{"p", at.p},
          {"n", at.what->n},
          {"time_ns", interval_json(at.what->kernel)},
          {"speedup_over_one", interval_json(at.over_one)},
          {"speedup_over_best", interval_json(at.over_best)},
          {"efficiency", interval_json(at.efficiency)},
          {"cost_over_best", interval_json(at.cost)},
          {"karp_flatt", interval_json(at.serial_fraction)},
          {"exchange_share", at.exchange ? ordered_json(*at.exchange) : ordered_json()},
          {"note", at.is_superlinear ? ordered_json("cache") : ordered_json()}};
}

ordered_json to_json(const scaling_fit& of) {
  const bool is_usl = of.law == report::scaling_law::usl;
  ordered_json told{{"law", name_of(of.law)}, {is_usl ? "contention" : "serial", interval_json(of.serial)}};
  if (is_usl) {
    told["coherency"] = interval_json(of.coherency);
    told["peak_p"] = interval_json(of.peak);
  }
  told["one_ns"] = of.one_ns;
  told["rmse"] = of.misfit;
  told["leave_one_out"] = of.prediction_error;
  return told;
}

template <class List>
ordered_json all_to_json(const List& list) {
  ordered_json told = ordered_json::array();
  for (const auto& one : list) told.push_back(to_json(one));
  return told;
}

}  // namespace

std::string scale_block(const scaling_curve& of) {
  std::string text = filled_lines(title_of_curve(of)) + filled_lines(what_ran(of)) + filled_lines(what_is_best(of)) +
                     "    p     time    +-%    /T_1    +-%    /T_s    +-% effic.   cost     Karp-Flatt\n";
  for (const scaling_point& point : of.points) text += line_of_point(point);
  text += filled_lines(report::cost_finding(of)) + filled_lines(report::karp_flatt_finding(of)) +
          filled_lines(report::crowding_finding(of));
  return text + what_fits(of) + filled_lines(report::extrapolation_finding(of));
}

ordered_json to_json(const scaling_curve& of) {
  const report::row& r = of.largest();
  ordered_json told{{"scaling", of.kind == scaling_kind::weak ? "weak" : "strong"},
                    {"machine", r.machine},
                    {"algorithm", r.algorithm},
                    {"variant", r.variant},
                    {"processors", of.processors},
                    {"dtype", r.dtype},
                    {"shape", of.points.front().what->shape},
                    {"settings", r.settings},
                    {"data", r.data},
                    {"tuning", r.tuning},
                    {"mode", r.mode},
                    {"best", nullptr}};
  if (of.best != nullptr)
    told["best"] = {{"variant", of.best->variant},
                    {"device", of.best->device},
                    {"peer", of.best->peer},
                    {"time_ns", interval_json(of.best->kernel)}};
  told["points"] = all_to_json(of.points);
  told["fits"] = all_to_json(of.fits);
  if (!of.fits.empty()) {
    const std::uint64_t p = report::extrapolation * of.last_fitted();
    told["extrapolated"] = {{"law", name_of(of.fits.front().law)},
                            {"p", p},
                            {"speedup_over_one", of.fits.front().speedup(static_cast<double>(p))}};
  }
  return told;
}

}  // namespace tilewise::cli
