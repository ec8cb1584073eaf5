// SPDX-License-Identifier: Apache-2.0
#include "tool/bench/record_cells.hpp"

#include "report/format.hpp"
#include "tool/output.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

namespace tilewise::cli {

using lab::measured;

namespace {

/// Display width: counts all bytes except UTF-8 continuation bytes, as in µ.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

std::string left(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, width_of(text)), ' ');
}
std::string right(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, width_of(text)), ' ') + text;
}

std::string label_of(const measured& m) {
  const record::measured_case& c = m.result.what;
  const std::string name = c.is_limit() ? c.algorithm : c.variant.substr(c.variant.find('/') + 1);
  return name + " @" + m.place + (m.tuning_changes.empty() ? "" : " " + m.tuning_changes);
}

std::string folded(const std::string& text, std::size_t width, const std::string& indent) {
  std::istringstream words(text);
  std::string lines, line;
  for (std::string word; words >> word; line += word) {
    if (line.empty()) continue;
    if (width_of(line) + 1 + width_of(word) > width)
      lines += std::exchange(line, indent) + "\n";
    else
      line += ' ';
  }
  return lines + line;
}

std::string wrapped(const std::string& label) {
  const std::string lines = folded(label, label_width, "  ");
  const std::size_t last = lines.rfind('\n') + 1;  // 0 if there is only one line
  return lines.substr(0, last) + left(lines.substr(last), label_width) + " ";
}

std::string spread_of(const record::clock& taken) {
  const auto spread = record::interval_of(taken).spread();
  return spread ? report::significant(100 * *spread, 2) + "%" : "";
}

std::string bits_of(const measured& m) {
  if (!m.result.verify) return "";
  if (!m.result.verify->ok) return coloured("WRONG", colour::red);
  if (m.result.what.order == registry::claim::tilewise) return coloured("=", colour::green);
  // A document's own program: that its bits are equal is what the document claims.
  const record::verification& v = *m.result.verify;
  return m.from != nullptr && v.digest && v.digest == v.reference_digest ? "=" : "~";
}

std::string travel_of(const measured& m) {
  if (!m.result.ranks || !m.result.ranks->sent_bytes) return "";
  const record::ranks& r = *m.result.ranks;
  const std::string took = r.exchange_ns ? ", " + report::duration(*r.exchange_ns) : "";
  return coloured("    " + report::bytes(static_cast<double>(*r.sent_bytes)) + " sent in " +
                      report::count(r.exchanges.value_or(0)) + " exchanges of " + report::count(r.number) + " ranks" +
                      took,
                  colour::dim) +
         "\n";
}

std::string size_of_problem(const measured& m) {
  return m.result.what.shape.size() == 1 ? report::count(m.result.what.n) : record::shape_text(m.result.what);
}

std::string problem_name(const measured& m) {
  std::string text = m.result.what.algorithm + "." + m.result.what.dtype + "  n = " + size_of_problem(m);
  for (const auto& [name, value] : record::ordered_settings(m.result.what))
    if (value != "none") text += "  " + name + " " + value;
  if (const std::string_view data = record::asked_data(m.result); !data.empty()) text.append("  data=").append(data);
  if (m.from != nullptr && m.from->inputs == nullptr) text.append("  data=").append(m.result.what.data);
  return text;
}

}  // namespace tilewise::cli
