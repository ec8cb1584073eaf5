// SPDX-License-Identifier: Apache-2.0
#include "tool/compare/table.hpp"

#include "report/format.hpp"
#include "tool/bench/record_cells.hpp"
#include "tool/output.hpp"

#include <algorithm>
#include <map>

namespace tilewise::cli {

namespace {

using report::verdict;

/// "0.987", "1.234": with three decimals where it is near 1.
std::string ratio_cell(double ratio) { return report::significant(ratio, ratio < 0.9995 ? 3 : 4); }

std::string interval_cell(const report::interval& ratio) {
  return ratio.low ? ratio_cell(*ratio.low) + " to " + ratio_cell(*ratio.high) : "none";
}

/// The variant, where it runs, and its tuning where there may be several or where it changed.
std::string name_of_row(const report::row& r) {
  const std::string name = r.is_limit() ? r.algorithm : r.variant.substr(r.variant.find('/') + 1);
  return name + " @" + r.device + (r.tuning.empty() ? "" : " " + r.tuning);
}

std::string line_of(const report::compared_case& c) {
  std::string name = name_of_row(*c.after);
  if (c.before != nullptr && c.before->tuning != c.after->tuning) name += " (was " + c.before->tuning + ")";
  std::string text = wrapped(name);
  if (c.ratio)
    text += right(report::duration(c.before->kernel->median), 8) + right(report::duration(c.after->kernel->median), 9) +
            right(ratio_cell(c.ratio->median), 8) + right(interval_cell(*c.ratio), 17) +
            right(report::significant(100 * c.noise_floor, 2) + "%", 6);
  text += "\n";
  return c.why.empty() ? text : text + "    " + folded(c.why, 76, "    ") + "\n";
}

/// A line wherever another group begins.
class headings {
 public:
  std::string before(const report::row& of) {
    if (told_ != nullptr && *told_ == of.group) return "";
    told_ = &of.group;
    return coloured(folded(of.group + (of.mode == "hot" ? "" : " " + of.mode), 80, "  "), colour::dim) + "\n";
  }

 private:
  const std::string* told_ = nullptr;
};

std::string title_of(verdict v) {
  if (v == verdict::wrong) return coloured("WRONG", colour::red);
  if (v == verdict::slower) return coloured("SLOWER", colour::red);
  return v == verdict::faster ? coloured("FASTER", colour::green) : v == verdict::same ? "SAME" : "UNCLEAR";
}

std::string block_of(verdict v, const report::comparison& of) {
  if (of.count(v) == 0) return "";
  std::string text = "\n" + title_of(v) + "\n";
  headings told;
  for (const report::compared_case& c : of.cases)
    if (c.is == v) text += told.before(*c.after) + line_of(c);
  return text;
}

std::string left_out_block(const report::comparison& of) {
  if (of.left_out.empty()) return "";
  std::string text = "\nNOT COMPARED\n";
  headings told;
  for (const report::left_out_case& c : of.left_out)
    text += told.before(*c.what) + folded(name_of_row(*c.what) + ": " + c.why, 80, "  ") + "\n";
  return text;
}

std::string rows_in_words(std::size_t rows) { return report::count(rows) + (rows == 1 ? " row" : " rows"); }

std::string mean_in_words(const report::comparison& of, bool of_peers, const std::string& whose) {
  const auto mean = mean_of(of.cases, of_peers);
  if (!mean) return "";
  return "new/old of " + rows_in_words(mean->rows) + " of " + whose + ": " + ratio_cell(mean->value.median) + " (" +
         interval_cell(mean->value) + ")\n";
}

/// What differs in one run may be what moves a whole run, and what does not may be hidden by it.
std::string runs_in_words(const report::comparison& of) {
  const std::size_t before = of.before.most_runs, after = of.after.most_runs;
  if (before > 1 || after > 1)
    return "Of " + report::count(before) + (before == 1 ? " run" : " runs") + " before and " + report::count(after) +
           " after.\n";
  const bool differ = of.count(verdict::slower) + of.count(verdict::faster) > 0;
  if (!differ && of.count(verdict::unclear) <= of.count(verdict::same)) return "";
  return "Of one run each. Two of each build tell more, and surely: measure with OLD and\n"
         "NEW again, which adds to their records, and compare again.\n";
}

std::string last_lines(const report::comparison& of) {
  std::string text = "\n" + rows_in_words(of.cases.size()) + ":";
  for (const verdict v : report::all_verdicts)
    text += (v == verdict::wrong ? " " : ", ") + report::count(of.count(v)) + " " + std::string(name_of(v));
  text += "\n";
  std::map<std::string, std::size_t> reasons;
  for (const report::left_out_case& c : of.left_out) ++reasons[c.why];
  for (const auto& [why, rows] : reasons)
    text += folded(rows_in_words(rows) + " not compared: " + why, 80, "  ") + "\n";
  return text + mean_in_words(of, false, "Tilewise") + mean_in_words(of, true, "peers") + runs_in_words(of);
}

}  // namespace

std::string comparison_table(const report::comparison& of, bool all) {
  std::string text;
  for (const std::string& remark : of.remarks) text += coloured(folded(remark, 80, "  "), colour::red) + "\n";
  text += left("variant @device", label_width + 1) + "     old      new new/old     95% interval noise\n";
  for (const verdict v : report::all_verdicts)
    if (all || v != verdict::same) text += block_of(v, of);
  return text + (all ? left_out_block(of) : "") + last_lines(of);
}

}  // namespace tilewise::cli
