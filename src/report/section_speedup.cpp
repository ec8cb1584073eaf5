// Speedup over the serial code and over OpenMP, with the data already where the kernel needs it.
#include "report/format.hpp"
#include "report/sections.hpp"

namespace tilewise::report {

namespace {

using nlohmann::json;

/// Our fastest variant of a board at each size.
std::vector<const row*> best_rows(const board& b) {
  std::vector<const row*> best;
  for (const std::uint64_t n : b.sizes())
    if (const series* s = b.fastest(role::tilewise, n)) best.push_back(s->at(n));
  return best;
}

const series* openmp_of(const panel& p) {
  if (const board* cpu = p.cpu())
    for (const series& s : cpu->all)
      if (s.kind == role::tilewise && s.device == "cpu:openmp") return &s;
  return nullptr;
}

html over(const panel& p, const series& base, const std::string& name, page_builder& page) {
  json lines = json::array();
  std::vector<std::vector<html>> rows;
  std::string most = "Nothing to compare.";
  double largest = 0;
  int colour = 0;
  for (const board& b : p.boards) {
    json points = json::array();
    for (const row* r : best_rows(b)) {
      const row* other = base.at(r->n);
      if (!other || !other->ranked()) continue;
      const double ratio = other->kernel->median / r->kernel->median;
      points.push_back(chart_point(static_cast<double>(r->n), {ratio, {}, {}}, true));
      rows.push_back({html::text(b.name), html::text(r->size()), html::text(short_name(r->variant)),
                      html::text(duration(r->kernel->median)), html::text(duration(other->kernel->median)),
                      html::text(factor(ratio))});
      if (ratio > largest) {
        largest = ratio;
        most = "Largest on " + b.name + ": " + factor(ratio) + " times " + name + " at " + r->at() + ".";
      }
    }
    lines.push_back({{"label", b.name}, {"role", "tilewise"}, {"colour", colour++}, {"points", std::move(points)}});
  }
  if (rows.empty()) return {};
  return page.figure({{"kind", "lines"},
                      {"x", axis_of(p)},
                      {"y", "times " + name},
                      {"unit", "ratio"},
                      {"level", {{"y", 1}, {"label", name}}},
                      {"lines", std::move(lines)}},
                     "Speedup over " + name, most,
                     table({"processor", "n", "fastest of ours", "its time", name, "speedup"}, rows));
}

}  // namespace

html speedup_section(const panel& p, page_builder& page) {
  html figures;
  if (const series* serial = p.serial()) figures += over(p, *serial, "the serial code", page);
  if (const series* openmp = openmp_of(p)) figures += over(p, *openmp, "OpenMP", page);
  if (figures.empty()) return {};
  return tag("h4", "Speedup") +
         paragraph(p.is_of_jobs()
                       ? "The fastest whole job of ours on each processor, as a ratio of medians."
                       : "Kernel time of our fastest variant on each processor, as a ratio of medians; processors "
                         "are measured one at a time. Transfers follow below.") +
         tag("div", {{"class", "figures"}}, figures);
}

}  // namespace tilewise::report
