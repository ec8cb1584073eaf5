// SPDX-License-Identifier: Apache-2.0
#include "tool/bench/table.hpp"

#include "report/format.hpp"
#include "report/model.hpp"
#include "tool/bench/record_cells.hpp"
#include "tool/output.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace tilewise::cli {

namespace {

using lab::measured;
using record::status;

/// The baseline: the standard library on one thread, or else the definition.
const measured* baseline_of(const std::vector<measured>& rows) {
  for (const char* ending : {"/cpu:std", "/serial"})
    for (const measured& m : rows)
      if (m.result.what.variant.ends_with(ending) && m.time() != nullptr) return &m;
  return nullptr;
}

double median_ns(const measured& m) { return *m.time()->median_ns; }

/// The rate in the unit of the problem's speed; 0 if unknown.
double rate_of(const measured& m) {
  using registry::speed_unit;
  if (!m.result.derived) return 0;
  const record::rates& r = *m.result.derived;
  const record::maybe_number rate = m.unit == speed_unit::bytes      ? r.bytes_per_s
                                    : m.unit == speed_unit::elements ? r.elements_per_s
                                                                     : r.operations_per_s.value_or(std::nullopt);
  return rate.value_or(0);
}

/// The limit that bounds the problem; empty if none was measured.
std::string bound_of(const std::vector<measured>& rows) {
  for (const measured& m : rows)
    if (!m.result.what.is_limit() && m.result.derived && m.result.derived->bound_by)
      return ", of " + std::string(name_of(*m.result.derived->bound_by));
  return "";
}

/// The name of the unit for 10^9 per second.
std::string unit_of(const measured& m) {
  using registry::speed_unit;
  const bool is_float = m.result.what.dtype == name_of(dtype::f32) || m.result.what.dtype == name_of(dtype::f64);
  return "G" +
         std::string(m.unit == speed_unit::operations ? (is_float ? "FLOP" : "op")
                     : m.unit == speed_unit::elements ? "keys"
                                                      : "B") +
         "/s";
}

bool is_plausible(const measured& m) { return !m.result.derived || m.result.derived->plausible; }

std::string why_implausible(const measured& m) {
  if (m.result.reason) return *m.result.reason;
  const auto bound = m.result.derived->bound_by;
  return "they do more than the device's own " +
         std::string(bound && record::is_arithmetic(*bound) ? "multiply-adds" : "copy") + " can";
}

/// Whether the time of its limit can be trusted.
bool has_sure_limit(const measured& m, const std::vector<measured>& rows) {
  return std::any_of(rows.begin(), rows.end(), [&](const measured& limit) {
    return limit.result.what.algorithm == name_of(*m.result.derived->bound_by) && limit.time() != nullptr &&
           record::interval_of(*limit.time()).is_narrow();
  });
}

/// The share of the limit. "?" marks a limit in doubt, "!" a share that cannot be true. A limit in doubt that is
/// exceeded is not shown.
std::string share_of_limit(const measured& m, const std::vector<measured>& rows) {
  if (!m.result.derived || !m.result.derived->fraction_of_ceiling || m.result.what.is_limit())
    return is_plausible(m) ? "" : "!";
  const double share = *m.result.derived->fraction_of_ceiling;
  if (share > 1 && is_plausible(m) && !has_sure_limit(m, rows)) return "-";
  const std::string text = share >= 10 ? ">999%" : share < 1e-4 ? "<0.01%" : report::significant(100 * share, 3) + "%";
  return text + (!is_plausible(m) ? "!" : has_sure_limit(m, rows) ? "" : "?");
}

std::string line_of(const measured& m, const std::vector<measured>& rows) {
  const measured* baseline = baseline_of(rows);
  const std::string start = wrapped(label_of(m));
  const record::clock* kernel = m.time();
  if (kernel == nullptr) {
    const bool is_wrong = m.result.state == status::wrong;
    const std::string reason = is_wrong ? "" : m.result.reason.value_or("").substr(0, 80 - label_width - 12);
    return start + left(std::string(name_of(m.result.state)), 8) + " " + reason + (reason.empty() ? "" : "  ") +
           bits_of(m) + "\n";
  }
  const double rate = rate_of(m) * 1e-9;
  const std::string speedup =
      baseline != nullptr && !m.result.what.is_limit() ? report::factor(median_ns(*baseline) / median_ns(m)) + "x" : "";
  return start + right(report::duration(median_ns(m)), 8) + right(spread_of(*kernel), 7) +
         right(rate == 0      ? ""
               : rate < 0.001 ? "<0.001"
                              : report::significant(rate, 3),
               8) +
         right(share_of_limit(m, rows), 8) + right(speedup, 9) + "  " + bits_of(m) + "\n" + travel_of(m);
}

std::string problem_title(const std::vector<measured>& rows) {
  const measured& m = rows.front();
  return problem_name(m) + (m.result.what.mode == "hot" ? "" : "  " + m.result.what.mode) + "  (" + unit_of(m) +
         bound_of(rows) + ")";
}

/// The other's time over this one's, by rounds in which both ran in turns: load on the machine slows both alike.
std::optional<record::interval> in_turns(const measured& one, const measured& other) {
  for (const record::ratio& q : one.result.ratios)
    if (q.to == other.result.what.variant && q.device == other.result.device.name &&
        q.tuning == other.result.what.tuning && q.median && q.ci95_lo && q.ci95_hi)
      return record::interval{*q.median, q.ci95_lo, q.ci95_hi};
  return std::nullopt;
}

bool is_surely_faster(const measured& one, const measured& other) {
  const record::noise noise = one.result.noise.value_or(record::noise{});
  if (const auto by_turns = in_turns(one, other)) return *by_turns->low > 1 + record::smallest_effect(noise.min_effect);
  return report::is_surely_shorter(record::interval_of(*one.time()), record::interval_of(*other.time()));
}

/// Whether rounds in turns showed that they differ by less than 5 %.
bool are_alike(const measured& one, const measured& other) {
  const auto by_turns = in_turns(one, other);
  return by_turns && *by_turns->low > 1 - record::interval::widest && *by_turns->high < 1 + record::interval::widest;
}

bool is_less_exact(const measured& m) {
  return m.result.verify && report::is_less_exact(m.result.what.algorithm, m.result.verify->max_relative_error);
}

/// How long the other takes as a multiple of this one's time.
double length_beside(const measured& best, const measured& other) {
  const auto by_turns = in_turns(best, other);
  return by_turns ? by_turns->median : median_ns(other) / median_ns(best);
}

/// The fastest row that `best` must beat: another library's, or also one of ours if the time of `best` is in doubt.
const measured* rival_of(const measured& best, const std::vector<measured>& rows) {
  const bool is_sure = record::interval_of(*best.time()).is_narrow();
  const measured* rival = nullptr;
  for (const measured& m : rows) {
    const record::measured_case &c = m.result.what, &of = best.result.what;
    const bool competes = c.peer ? !is_less_exact(m) : !is_sure && c.order == of.order;
    if (&m == &best || m.time() == nullptr || !is_plausible(m) || !competes || c.mode != of.mode ||
        problem_name(m) != problem_name(best))
      continue;
    if (rival == nullptr || length_beside(best, m) < length_beside(best, *rival)) rival = &m;
  }
  return rival;
}

/// "cpu:std @cpu (peer), 740 us"
std::string timed_label(const measured& m) {
  return label_of(m) + (m.result.what.peer ? " (peer), " : ", ") + report::duration(median_ns(m));
}

/// The fastest row at the algorithm's largest size. None is named if the best times are implausible.
std::string fastest(const std::string& algorithm, const std::vector<const measured*>& ours,
                    const std::vector<measured>& rows) {
  const measured* largest = *std::max_element(ours.begin(), ours.end(), [](const measured* a, const measured* b) {
    return a->result.what.operations < b->result.what.operations;
  });
  const measured* best = nullptr;
  std::size_t implausible = 0, total = 0;
  for (const measured* m : ours) {
    if (m->result.what.shape != largest->result.what.shape) continue;
    ++total;
    implausible += !is_plausible(*m);
    if (best == nullptr || rate_of(*m) > rate_of(*best)) best = m;
  }
  const std::string of = algorithm + " of " + size_of_problem(*largest);
  if (is_plausible(*best)) {
    const measured* rival = rival_of(*best, rows);
    if (rival == nullptr || is_surely_faster(*best, *rival)) return "Fastest " + of + ": " + timed_label(*best) + ".\n";
    const std::string text =
        is_surely_faster(*rival, *best)
            ? "Fastest " + of + ": " + timed_label(*rival) + "; of ours " + timed_label(*best)
        : are_alike(*best, *rival)
            ? "Fastest " + of + ": " + timed_label(*best) + ", and " + timed_label(*rival) + ", alike"
            : "Fastest " + of + ": too noisy to say, " + timed_label(*best) + ", or " + timed_label(*rival);
    return folded(text, 80, "  ") + ".\n";
  }
  return "No fastest " + of + " is named: " + std::to_string(implausible) + " of " + std::to_string(total) +
         " times, the best among them,\nare marked ! since " + why_implausible(*best) + ".\n";
}

}  // namespace

std::string bench_heading() {
  return left("variant @device", label_width) + "     time    +-%    rate   limit  speedup  bits\n";
}

std::string bench_block(const std::vector<measured>& rows) {
  std::string text = "\n" + problem_title(rows) + "\n";
  for (const measured& m : rows) text += line_of(m, rows);
  return text;
}

std::string bench_verdict(const std::vector<measured>& rows) {
  std::size_t right_bits = 0, beyond = 0, wrong = 0, failed = 0, implausible = 0;
  std::set<std::string> references;                           // what stood for the definition where that takes too long
  std::map<std::string, std::vector<const measured*>> timed;  // correct rows of ours, by algorithm
  for (const measured& m : rows) {
    wrong += m.result.state == status::wrong;
    failed += m.result.state == status::failed || m.result.state == status::timeout;
    implausible += !is_plausible(m);
    if (m.result.what.order != registry::claim::tilewise || !m.result.verify || !m.result.verify->ok) continue;
    const std::string reference = m.result.verify->reference.value_or("");
    const bool is_of_definition = record::is_definition(reference);
    ++(is_of_definition ? right_bits : beyond);
    if (!is_of_definition) references.insert(reference);
    if (m.time() != nullptr) timed[m.result.what.algorithm].push_back(&m);
  }
  std::string text =
      wrong != 0 ? coloured("WRONG: " + number_of(wrong, "result") + (wrong == 1 ? " differs" : " differ"), colour::red)
                 : "All " + std::to_string(right_bits) + " results in the order have the definition's bits";
  if (wrong == 0 && right_bits == 1) text = "The result in the order has the definition's bits";
  if (wrong == 0 && right_bits == 0)
    text = beyond == 0 ? "No result in the order was checked" : "No result was compared with the definition";
  if (failed != 0) text += "; " + number_of(failed, "row") + " failed";
  text = "\n" + text + ".\n";
  if (wrong == 0 && beyond != 0)
    text += folded(std::to_string(beyond) + " more, too large for the definition, " + (beyond == 1 ? "has" : "have") +
                       " the bits of " + report::listed({references.begin(), references.end()}, 3) + ".",
                   80, "  ") +
            "\n";
  if (implausible != 0)
    text += std::to_string(implausible) + (implausible == 1 ? " time" : " times") + " marked ! cannot be true.\n";
  for (const auto& [algorithm, ours] : timed) text += fastest(algorithm, ours, rows);
  return text;
}

}  // namespace tilewise::cli
