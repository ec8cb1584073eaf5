// SPDX-License-Identifier: Apache-2.0
// The tables of a page, as texts.
#pragma once

#include "page.hpp"

#include <gtest/gtest.h>

namespace tilewise::report {

using table_cells = std::vector<std::vector<std::string>>;
using cell_list = std::vector<std::string>;

inline std::string without_tags(const std::string& code) {
  std::string text;
  bool is_tag = false;
  for (const char c : code) {
    is_tag = c == '<' || (is_tag && c != '>');
    if (!is_tag && c != '>') text += c;
  }
  return text;
}

/// The parts of `code` from each `begin` to the next `end`.
inline std::vector<std::string> parts_between(const std::string& code, const std::string& begin,
                                              const std::string& end) {
  std::vector<std::string> parts;
  for (std::size_t at = code.find(begin); at != code.npos; at = code.find(begin, at + 1))
    parts.push_back(code.substr(at, code.find(end, at) - at));
  return parts;
}

/// The rows of all tables whose caption begins with this text, without their headings.
inline table_cells rows_below(const std::string& page, const std::string& caption) {
  table_cells rows;
  for (const std::string& table : parts_between(page, "<caption>" + caption, "</table>"))
    for (std::size_t row = table.find("<tr>", table.find("<tbody>")); row != table.npos;
         row = table.find("<tr>", row)) {
      const std::string line = row_from(table, row += 4);
      rows.emplace_back();
      for (std::size_t at = line.find("<t"); at != line.npos; at = line.find("<t", at + 1))
        rows.back().push_back(without_tags(line.substr(at, line.find("<t", at + 1) - at)));
    }
  return rows;
}

inline const std::vector<std::string>& row_of(const table_cells& rows, const std::string& name) {
  static const std::vector<std::string> none;
  for (const auto& row : rows)
    if (row.front() == name) return row;
  ADD_FAILURE() << "no row " << name << " of " << rows.size();
  return none;
}

using cell_list = std::vector<std::string>;

}  // namespace tilewise::report
