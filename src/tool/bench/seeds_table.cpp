// SPDX-License-Identifier: Apache-2.0
#include "tool/bench/table.hpp"

#include "record/published.hpp"
#include "report/format.hpp"
#include "tool/bench/record_cells.hpp"

#include <algorithm>
#include <map>
#include <sstream>

namespace tilewise::cli {

namespace {

using lab::figure;
using lab::measured;

/// The document's baseline variant, on the document's device if that was measured.
const measured* baseline_row_of(const std::vector<measured>& rows) {
  const measured* found = nullptr;
  for (const measured& m : rows)
    if (m.result.what.variant == m.from->baseline && m.time() != nullptr &&
        (found == nullptr || m.place == m.from->baseline_device))
      found = &m;
  return found;
}

/// All of the document's figures for the size, grouped by machine, also those without a row of ours.
std::vector<const figure*> figures_at(const measured& m) {
  std::vector<const figure*> all;
  for (const figure& f : m.from->figures)
    if (std::equal(f.shape.size.begin(), f.shape.size.begin() + f.shape.rank, m.result.what.shape.begin(),
                   m.result.what.shape.end()))
      all.push_back(&f);
  return all;
}

/// In the document's digits; computed where the row does a part of the document's run.
std::string published_text(const figure& f, const measured& row) {
  const std::string digits =
      record::published_digits(row.from->document, registry::to_string(f.shape),
                               {std::string(f.system), std::string(f.machine), f.ns, f.with_transfers});
  return digits.empty() || row.result.experiment->times_in_run ? report::duration(f.ns) : digits;
}

/// "a", "b": the figure's mark in the list below the table.
std::string mark_of(const figure* f, const std::vector<const figure*>& all) {
  return std::string(1, static_cast<char>('a' + (std::find(all.begin(), all.end(), f) - all.begin())));
}

struct cells {
  std::string label, time = {}, spread = {}, speedup = {}, published = {}, faster = {}, bits = {};
};

/// A long published time takes the room that the columns before it do not need.
std::string line_of(const cells& c) {
  const std::size_t published = std::max<std::size_t>(10, c.published.size() + 1);
  std::size_t missing = published - 10;
  const auto rest_of = [&missing](std::size_t width, const std::string& text) {
    const std::size_t taken = std::min(missing, width - std::min(width, text.size() + 1));
    missing -= taken;
    return width - taken;
  };
  const std::size_t speedup = rest_of(9, c.speedup), spread = rest_of(7, c.spread), time = rest_of(8, c.time);
  std::string line = c.label + right(c.time, time) + right(c.spread, spread) + right(c.speedup, speedup) +
                     right(c.published, published) + right(c.faster, 8) + "  " + c.bits;
  return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

std::string times(double ratio) { return ratio < 0.01 ? "<0.01x" : report::factor(ratio) + "x"; }

/// Words wrapped to lines of at most 80 columns.
std::string indented(const std::string& text) {
  std::istringstream from(text);
  std::string lines = "   ";
  std::size_t width = lines.size();
  for (std::string word; from >> word; width += 1 + word.size()) {
    if (width + 1 + word.size() > 80) {
      lines += "\n   ";
      width = 3;
    }
    lines += " " + word;
  }
  return lines + "\n";
}

class block {
 public:
  explicit block(const std::vector<measured>& rows)
      : rows_(rows), baseline_(baseline_row_of(rows)), figures_(figures_at(rows.front())) {}

  std::string text() const {
    std::string all = "\n" + problem_name(rows_.front()) + "\n" + head();
    for (const measured& m : rows_)
      if (!m.result.what.is_limit()) all += lines_of(m);
    for (const measured& m : rows_) all += course_of(m);
    return all + published();
  }

 private:
  std::string head() const {
    const measured& first = rows_.front();
    const std::string begins = first.result.experiment->first_outputs;
    const bool has_inputs = first.from->inputs != nullptr;
    std::string text = "  " + first.result.experiment->document + "\n" + (has_inputs ? "  its inputs" : "");
    if (has_inputs && first.from->data != "seeds") text += ", " + std::string(first.from->data);
    const bool is_right = std::any_of(rows_.begin(), rows_.end(), [](const measured& m) { return m.result.verify; });
    if (!begins.empty() && is_right) text += "; the result begins " + begins + ", as published";
    if (has_inputs) text += "\n";
    if (baseline_ != nullptr) return text + "  speedup: over " + label_of(*baseline_) + "\n";
    return text + "  no speedup: " + first.result.experiment->baseline + " was not measured\n";
  }

  std::string lines_of(const measured& m) const {
    std::vector<const figure*> kernel, transfers;
    for (const figure* f : m.published) (f->with_transfers ? transfers : kernel).push_back(f);
    const record::clock* taken = m.time();
    const record::clock* trip =
        taken != nullptr && m.result.timing->round_trip ? &*m.result.timing->round_trip : nullptr;
    cells first{.label = wrapped(label_of(m)), .bits = bits_of(m)};
    if (taken == nullptr) first.time = name_of(m.result.state);
    std::string text = lines_of(first, taken, kernel) + travel_of(m);
    if (m.result.reason) text += indented(*m.result.reason);
    if (trip != nullptr || !transfers.empty()) text += lines_of({below("with transfers")}, trip, transfers);
    return text;
  }

  static std::string below(const std::string& label) { return left("  " + label, label_width + 1); }

  /// A line with the time and the first figure of its kind, then a line for each further figure.
  std::string lines_of(cells line, const record::clock* taken, const std::vector<const figure*>& beside) const {
    std::optional<double> median;
    if (taken != nullptr) {
      median = taken->median_ns;
      line.time = report::duration(*median);
      line.spread = taken->ci95_lo_ns ? spread_of(*taken) : "n=" + std::to_string(taken->n);
      if (baseline_ != nullptr) line.speedup = times(*baseline_->time()->median_ns / *median);
    }
    std::string text;
    for (const figure* f : beside) {
      line.published = published_text(*f, rows_.front()) + " " + mark_of(f, figures_);
      line.faster = median ? times(f->ns / *median) : "";
      text += line_of(line);
      line = {below("elsewhere")};
    }
    return beside.empty() ? line_of(line) : text;
  }

  /// The last moment of a run, and all moments for which the document publishes figures.
  static std::string course_of(const measured& row) {
    if (!row.result.course || row.result.course->is_log()) return "";
    const record::course& course = *row.result.course;
    std::string text = "  the field from its start, by " + label_of(row) + "\n";
    for (const record::moment& m : course.moments)
      if (m.published_hash || &m == &course.moments.back())
        text += indented("step " + report::count(m.step.value_or(0)) + ", residual " +
                         report::significant(m.residual.value_or(0), 3) + ", hash " + m.hash +
                         (!m.published_hash           ? ""
                          : m.differs_from_document() ? ", NOT as the original"
                                                      : ", as the original"));
    return text + (course.stopped ? indented("ended there: " + *course.stopped) : "");
  }

  std::string published() const {
    if (figures_.empty())
      return rows_.front().from->figures.empty() ? "  the document publishes no times\n"
                                                 : "  the document publishes no times at this size\n";
    std::string text = "  published:\n";
    std::string_view machine;
    for (const figure* f : figures_) {
      if (f->machine != machine) text += "    on " + std::string(f->machine) + "\n";
      machine = f->machine;
      text += "    " + mark_of(f, figures_) + "  " +
              left(std::string(f->system) + (f->with_transfers ? ", with transfers" : ""), 61) +
              right(published_text(*f, rows_.front()), 12) + "\n";
    }
    return text;
  }

  const std::vector<measured>& rows_;
  const measured* baseline_;
  std::vector<const figure*> figures_;
};

}  // namespace

std::string seeds_heading() {
  return line_of({wrapped("variant @device"), "time", "+-%", "speedup", "published", "faster", "bits"});
}

std::string seeds_block(const std::vector<measured>& rows) { return block(rows).text(); }

std::string seeds_left_out(const std::vector<std::pair<std::string, std::string>>& missing) {
  std::map<std::string, std::string> by_reason;
  for (const auto& [id, why] : missing) by_reason[why] += (by_reason[why].empty() ? "" : " ") + id;
  std::string text = missing.empty() ? "" : "\nNot measured:\n";
  for (const auto& [why, ids] : by_reason) text += "  " + why + "\n" + indented(ids);
  return text;
}

}  // namespace tilewise::cli
