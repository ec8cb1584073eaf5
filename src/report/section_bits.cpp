// Each result with its digest and its time, and the ratios of interleaved rounds.
#include "report/comparison.hpp"
#include "report/findings.hpp"
#include "report/format.hpp"
#include "report/sections.hpp"

#include <map>

namespace tilewise::report {

namespace {

/// The definition's digest at `n`, as given by the rows of a panel.
std::string reference_digest(const panel& p, std::uint64_t n) {
  for (const board& b : p.boards)
    for (const series& s : b.all)
      if (const row* r = s.at(n); r != nullptr && !r->reference_digest.empty()) return r->reference_digest;
  return "";
}

html digest_mark(const row& r, const std::string& reference) {
  if (r.own_order) return tag("small", "own order");
  const bool equal = r.digest == reference && !reference.empty();
  return tag("small", tag("code", html::text(r.digest.substr(0, 8))) + (equal ? html(" =") : html(" other input")));
}

html result_cell(const row* r, const std::string& reference) {
  if (!r) return "–";
  if (r->wrong()) return tag("strong", {{"class", "wrong"}}, "WRONG");
  if (!r->is_ok()) return html::text(std::string(record::name_of(r->status)));
  html time = html::text(r->kernel ? duration(r->kernel->median) : "–");
  if (!r->plausible) time += tag("div", tag("small", "implausible"));
  return r->is_limit() ? time : time + tag("div", digest_mark(*r, reference));
}

/// What a ratio compares with, by the name used everywhere else.
std::string name_of(const ratio& q, const board& b) {
  for (const series& s : b.all)
    if (s.variant == q.to && (s.device == q.device || s.kind != role::tilewise)) return s.label;
  return short_name(q.to);
}

}  // namespace

html bits_section(const panel& p) {
  std::vector<std::string> heads{"variant"};
  std::vector<html> first{"the definition"};
  std::map<std::uint64_t, std::string> references;
  for (const std::uint64_t n : p.sizes()) {
    const std::string& reference = references.emplace(n, reference_digest(p, n)).first->second;
    heads.push_back(p.size_at(n));
    first.push_back(tag("small", tag("code", html::text(reference.substr(0, 8)))));
  }
  std::vector<std::vector<html>> rows{first};
  for (const board& b : p.boards)
    for (const series& s : b.all) {
      if (s.does_fixed_work()) continue;
      auto& line =
          rows.emplace_back(std::vector<html>{html::text(s.kind == role::limit ? s.label + " on " + b.name : s.label)});
      for (const auto& [n, reference] : references) line.push_back(result_cell(s.at(n), reference));
    }
  return tag("h4", "One digest, many times") +
         paragraph(
             "For each size: the median " + std::string(p.time_words()) +
             ", and below it the first digits of the result's digest. The sign = "
             "means that all 32 digits are those of the definition; results with an order of their own are within "
             "their bounds.") +
         tag("div", {{"class", "dense"}}, table(heads, rows));
}

html ratio_section(const panel& p) {
  std::vector<std::vector<html>> rows;
  for (const board& b : p.boards)
    for (const series& s : b.all)
      for (const row* r : s.measured())
        for (const ratio& q : r->ratios)
          if (s.kind == role::tilewise && r->plausible)
            rows.push_back({html::text(s.label), html::text(name_of(q, b)), html::text(b.name), html::text(r->size()),
                            html::text(ratio_text(q.value)),
                            html::text(name_of(judged(q.value, smallest_effect(*r))))});
  if (rows.empty()) return {};
  return tag("h4", "Interleaved comparisons") +
         tag("details",
             tag("summary", html::text(count(rows.size()) + " ratios from interleaved rounds")) +
                 paragraph(
                     "Both ran alternately in one process, A B B A. Above 1, the first is faster; the 95 % interval is "
                     "in brackets. It must lie beyond the machine's noise floor to be called faster or slower.") +
                 table({"variant", "against", "processor", "n", "speed ratio", "verdict"}, rows, content::words));
}

}  // namespace tilewise::report
