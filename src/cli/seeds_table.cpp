#include "cli/seeds_table.hpp"

#include "cli/record_cells.hpp"
#include "report/format.hpp"

#include <algorithm>
#include <map>
#include <sstream>

namespace tilewise::cli {

namespace {

using lab::figure;
using lab::record;

/// The document's variant, where the document ran it if that was measured.
const record* baseline_row_of(const std::vector<record>& rows) {
  const record* found = nullptr;
  for (const record& r : rows)
    if (r.what.variant == r.from->baseline && kernel_of(r) != nullptr &&
        (found == nullptr || r.what.place == r.from->baseline_device))
      found = &r;
  return found;
}

/// All figures of the size, those of one machine together; what has no row of ours is among them.
std::vector<const figure*> figures_at(const record& r) {
  std::vector<const figure*> all;
  for (const figure& f : r.from->figures)
    if (f.shape == r.what.shape) all.push_back(&f);
  return all;
}

/// "a", "b": where the figure stands in the list below the table.
std::string mark_of(const figure* f, const std::vector<const figure*>& all) {
  return std::string(1, static_cast<char>('a' + (std::find(all.begin(), all.end(), f) - all.begin())));
}

struct cells {
  std::string label, time = {}, spread = {}, speedup = {}, published = {}, faster = {}, bits = {};
};

std::string line_of(const cells& c) {
  std::string line = c.label + right(c.time, 8) + right(c.spread, 7) + right(c.speedup, 9) + right(c.published, 10) +
                     right(c.faster, 8) + "  " + c.bits;
  return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

std::string times(double ratio) { return ratio < 0.01 ? "<0.01x" : report::factor(ratio) + "x"; }

/// Words in lines of at most 80 columns.
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
  explicit block(const std::vector<record>& rows)
      : rows_(rows), baseline_(baseline_row_of(rows)), figures_(figures_at(rows.front())) {}

  std::string text() const {
    std::string all = "\n" + problem_name(rows_.front()) + "\n" + head();
    for (const record& r : rows_)
      if (!is_limit(r)) all += lines_of(r);
    for (const record& r : rows_) all += course_of(r);
    return all + published();
  }

 private:
  std::string head() const {
    const record& r = rows_.front();
    const std::string_view begins = r.from->at(r.what.shape)->first_outputs;
    std::string text = "  " + std::string(r.from->document) + "\n";
    if (r.from->inputs != nullptr) text += "  its inputs";
    const bool is_right = std::any_of(rows_.begin(), rows_.end(), [](const record& row) { return row.verified; });
    if (!begins.empty() && is_right) text += "; the result begins " + std::string(begins) + ", as published";
    if (r.from->inputs != nullptr) text += "\n";
    if (baseline_ != nullptr) return text + "  speedup: over " + label_of(*baseline_) + "\n";
    return text + "  no speedup: " + std::string(r.from->baseline) + " was not measured\n";
  }

  std::string lines_of(const record& r) const {
    std::vector<const figure*> kernel, transfers;
    for (const figure* f : r.published) (f->with_transfers ? transfers : kernel).push_back(f);
    const lab::series* taken = kernel_of(r);
    const bool has_trip = taken != nullptr && r.time.round_trip && !r.time.round_trip->ns.empty();
    cells first{.label = wrapped(label_of(r)), .bits = bits_of(r)};
    if (taken == nullptr) first.time = lab::name_of(r.state);
    std::string text = lines_of(first, taken, kernel);
    if (taken == nullptr && !r.reason.empty()) text += indented(r.reason);
    if (has_trip || !transfers.empty())
      text += lines_of({below("with transfers")}, has_trip ? &*r.time.round_trip : nullptr, transfers);
    return text;
  }

  static std::string below(const std::string& label) { return left("  " + label, label_width + 1); }

  /// A time with the first figure of its kind, and a line for each further one.
  std::string lines_of(cells line, const lab::series* taken, const std::vector<const figure*>& beside) const {
    std::optional<double> median;
    if (taken != nullptr) {
      const lab::summary s = lab::summarize(taken->ns);
      median = s.median;
      line.time = report::duration(s.median);
      line.spread = s.ci95 ? spread_of(s) : "n=" + std::to_string(s.n);
      if (baseline_ != nullptr) line.speedup = times(median_ns(*baseline_) / s.median);
    }
    std::string text;
    for (const figure* f : beside) {
      line.published = report::duration(f->ns) + " " + mark_of(f, figures_);
      line.faster = median ? times(f->ns / *median) : "";
      text += line_of(line);
      line = {below("elsewhere")};
    }
    return beside.empty() ? line_of(line) : text;
  }

  /// The last moment, and what the document publishes of others.
  static std::string course_of(const record& r) {
    if (!r.course) return "";
    std::string text = "  the field from its start, by " + label_of(r) + "\n";
    for (const lab::field_moment& m : r.course->moments)
      if (!m.published_hash.empty() || &m == &r.course->moments.back())
        text += indented("step " + report::count(m.step) + ", residual " + report::significant(m.residual, 3) +
                         ", hash " + m.hash +
                         (m.published_hash.empty()    ? ""
                          : m.differs_from_document() ? ", NOT as published"
                                                      : ", as published"));
    return text + (r.course->stopped.empty() ? "" : indented("ended there: " + r.course->stopped));
  }

  std::string published() const {
    if (figures_.empty()) return "  the document publishes no times\n";
    std::string text = "  published:\n";
    std::string_view machine;
    for (const figure* f : figures_) {
      if (f->machine != machine) text += "    on " + std::string(f->machine) + "\n";
      machine = f->machine;
      text += "    " + mark_of(f, figures_) + "  " +
              left(std::string(f->system) + (f->with_transfers ? ", with transfers" : ""), 62) +
              right(report::duration(f->ns), 9) + "\n";
    }
    return text;
  }

  const std::vector<record>& rows_;
  const record* baseline_;
  std::vector<const figure*> figures_;
};

}  // namespace

std::string seeds_heading() {
  return line_of({wrapped("variant @device"), "time", "+-%", "speedup", "published", "faster", "bits"});
}

std::string seeds_block(const std::vector<record>& rows) { return block(rows).text(); }

std::string seeds_left_out(const std::vector<std::pair<std::string, std::string>>& missing) {
  std::map<std::string, std::string> by_reason;
  for (const auto& [id, why] : missing) by_reason[why] += (by_reason[why].empty() ? "" : " ") + id;
  std::string text = missing.empty() ? "" : "\nNot measured:\n";
  for (const auto& [why, ids] : by_reason) text += "  " + why + "\n" + indented(ids);
  return text;
}

}  // namespace tilewise::cli
