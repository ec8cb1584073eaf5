#include "cli/bench_table.hpp"

#include "cli/output.hpp"
#include "cli/record_cells.hpp"
#include "report/format.hpp"

#include <algorithm>
#include <map>

namespace tilewise::cli {

namespace {

using lab::record;
using lab::status;

/// What others are held against: the standard library on one thread, else the definition.
const record* baseline_of(const std::vector<record>& rows) {
  for (const char* ending : {"/cpu:std", "/serial"})
    for (const record& r : rows)
      if (r.what.variant.ends_with(ending) && kernel_of(r) != nullptr) return &r;
  return nullptr;
}

/// The work in the unit of the problem's speed.
double work_of(const record& r) {
  using registry::speed_unit;
  return r.what.unit == speed_unit::operations ? r.what.operations
         : r.what.unit == speed_unit::elements ? r.what.elements
                                               : r.what.bytes_min;
}

/// Of 10^9 units a second, and what bounds them.
std::string unit_of(const record& r) {
  using registry::speed_unit;
  const bool is_float = r.what.type == dtype::f32 || r.what.type == dtype::f64;
  return "G" +
         std::string(r.what.unit == speed_unit::operations ? (is_float ? "FLOP" : "op")
                     : r.what.unit == speed_unit::elements ? "keys"
                                                           : "B") +
         "/s, of " + std::string(lab::name_of(r.bound_by));
}

/// A mark instead of a number that cannot be true.
std::string share_of_limit(const record& r, double ns) {
  if (!r.ceiling_per_s || is_limit(r)) return "";
  const double share = lab::work_of(r.what, r.bound_by) / (ns * 1e-9) / *r.ceiling_per_s;
  const std::string text = share >= 10 ? ">999%" : share < 1e-4 ? "<0.01%" : report::significant(100 * share, 3) + "%";
  return text + (r.plausible ? "" : "!");
}

std::string line_of(const record& r, const std::vector<record>& rows) {
  const record* baseline = baseline_of(rows);
  const std::string start = wrapped(label_of(r));
  const lab::series* kernel = kernel_of(r);
  if (kernel == nullptr) {
    const std::string reason = r.reason.substr(0, r.state == status::wrong ? 0 : 80 - label_width - 12);
    return start + left(std::string(lab::name_of(r.state)), 8) + " " + reason + (reason.empty() ? "" : "  ") +
           bits_of(r) + "\n";
  }
  const lab::summary s = lab::summarize(kernel->ns);
  const double rate = work_of(r) / s.median;
  const std::string speedup =
      baseline != nullptr && !is_limit(r) ? report::factor(median_ns(*baseline) / s.median) + "x" : "";
  return start + right(report::duration(s.median), 8) + right(spread_of(s), 7) +
         right(rate < 0.001 ? "<0.001" : report::significant(rate, 3), 8) + right(share_of_limit(r, s.median), 8) +
         right(speedup, 9) + "  " + bits_of(r) + "\n";
}

std::string problem_title(const record& r) {
  return problem_name(r) + (r.what.cold ? "  cold" : "") + "  (" + unit_of(r) + ")";
}

/// The fastest at the algorithm's largest size; none is named where the best times cannot be true.
std::string fastest(const std::string& algorithm, const std::vector<const record*>& ours) {
  const record* largest = *std::max_element(ours.begin(), ours.end(), [](const record* a, const record* b) {
    return a->what.operations < b->what.operations;
  });
  const record* best = nullptr;
  std::size_t implausible = 0, total = 0;
  const auto slowness = [](const record* r) { return median_ns(*r) / work_of(*r); };
  for (const record* r : ours) {
    if (r->what.shape != largest->what.shape) continue;
    ++total;
    implausible += !r->plausible;
    if (best == nullptr || slowness(r) < slowness(best)) best = r;
  }
  const std::string of = algorithm + " of " + size_of_problem(*largest);
  if (best->plausible)
    return "Fastest " + of + ": " + label_of(*best) + ", " + report::duration(median_ns(*best)) + ".\n";
  return "No fastest " + of + " is named: " + std::to_string(implausible) + " of " + std::to_string(total) +
         " times, the best among them,\nare marked ! since they do more than the device's own " +
         (best->bound_by == lab::ceiling::fma ? "multiply-adds" : "copy") + " can.\n";
}

}  // namespace

std::string bench_heading() {
  return left("variant @device", label_width) + "   kernel    +-%    rate   limit   vs std  bits\n";
}

std::string bench_block(const std::vector<record>& rows) {
  std::string text = "\n" + problem_title(rows.front()) + "\n";
  for (const record& r : rows) text += line_of(r, rows);
  return text;
}

std::string bench_verdict(const std::vector<record>& rows) {
  std::size_t right_bits = 0, wrong = 0, failed = 0;
  std::map<std::string, std::vector<const record*>> timed;  // by algorithm: ours, right
  for (const record& r : rows) {
    wrong += r.state == status::wrong;
    failed += r.state == status::failed;
    if (r.what.order != registry::claim::tilewise || !r.verified || !r.verified->ok) continue;
    ++right_bits;
    if (kernel_of(r) != nullptr) timed[r.what.algorithm].push_back(&r);
  }
  std::string text = wrong != 0
                         ? coloured("WRONG: " + std::to_string(wrong) + " results differ", colour::red)
                         : "All " + std::to_string(right_bits) + " results in the order have the definition's bits";
  if (wrong == 0 && right_bits == 0) text = "No result in the order was checked";
  if (failed != 0) text += "; " + std::to_string(failed) + " rows failed";
  text = "\n" + text + ".\n";
  for (const auto& [algorithm, ours] : timed) text += fastest(algorithm, ours);
  return text;
}

}  // namespace tilewise::cli
