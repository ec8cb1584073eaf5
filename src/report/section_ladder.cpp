// The ladder: from the serial code over each variant to other people's code and the copy, with the factor of each step.
#include "report/format.hpp"
#include "report/sections.hpp"

#include <algorithm>

namespace tilewise::report {

namespace {

using nlohmann::json;

struct rung {
  const series* what;
  const row* at;
  int colour;
};

/// Slowest first, the copy last: nothing stands above the limit.
std::vector<rung> rungs_of(const panel& p, const board& b, std::uint64_t n) {
  std::vector<rung> rungs;
  const auto add = [&](const series& s, int colour) {
    const row* r = s.at(n);
    if (r && r->ranked()) rungs.push_back({&s, r, colour});
  };
  for (const series& s : b.all) add(s, colour_of(b, s));
  if (p.serial() && !b.is_cpu) add(*p.serial(), 0);
  std::stable_sort(rungs.begin(), rungs.end(), [](const rung& x, const rung& y) {
    const bool x_last = x.what->kind == role::limit, y_last = y.what->kind == role::limit;
    return x_last != y_last ? y_last : x.at->kernel->median > y.at->kernel->median;
  });
  return rungs;
}

/// Elements a second: a copy of n elements and an algorithm on n elements are then on one scale.
double speed(const rung& r) { return static_cast<double>(r.at->n) / r.at->kernel->median * 1e9; }

std::string step(const std::vector<rung>& rungs, std::size_t i) {
  return i == 0 ? "" : "× " + factor(speed(rungs[i]) / speed(rungs[i - 1]));
}

std::string finding(const std::vector<rung>& rungs) {
  if (rungs.size() < 2) return "One rung only.";
  const auto ours =
      std::find_if(rungs.rbegin(), rungs.rend(), [](const rung& r) { return r.what->kind == role::tilewise; });
  if (ours == rungs.rend()) return "No variant of ours was measured here.";
  std::string text = "From " + rungs.front().what->label + " to " + ours->what->label + ": " +
                     factor(speed(*ours) / speed(rungs.front())) + " times as fast";
  if (rungs.back().what->kind == role::limit)
    text += "; a plain copy of as many elements is " + factor(speed(rungs.back()) / speed(*ours)) + " times that";
  return text + ".";
}

}  // namespace

html ladder_section(const panel& p, page_builder& page) {
  html figures;
  for (const board& b : p.boards) {
    const std::uint64_t n = b.common_size();
    const std::vector<rung> rungs = rungs_of(p, b, n);
    if (rungs.empty()) continue;
    json bars = json::array();
    std::vector<std::vector<html>> rows;
    for (std::size_t i = 0; i < rungs.size(); ++i) {
      const rung& r = rungs[i];
      json bar = chart_line(*r.what, r.colour, nullptr);
      bar["value"] = speed(r);
      bar["note"] = step(rungs, i);
      bars.push_back(std::move(bar));
      rows.push_back({html::text(r.what->label), html::text(duration(r.at->kernel->median)),
                      html::text(element_rate(speed(r))), html::text(step(rungs, i)),
                      html::text(factor(speed(r) / speed(rungs.front())))});
    }
    figures +=
        page.figure({{"kind", "bars"}, {"x", "elements / time"}, {"unit", "elements"}, {"bars", std::move(bars)}},
                    b.name + ", " + at_size(n), finding(rungs),
                    table({"rung", "time", "elements", "step", "over the first"}, rows));
  }
  if (figures.empty()) return {};
  return tag("h4", "The ladder") +
         paragraph(
             "Elements a second at the largest size that all share, slowest first; beside each bar its factor over "
             "the bar above it. Hatched: other people's code. Outlined: the plain copy, the physical limit.") +
         tag("div", {{"class", "figures"}}, figures);
}

}  // namespace tilewise::report
