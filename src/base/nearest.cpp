// SPDX-License-Identifier: Apache-2.0
#include "base/nearest.hpp"

#include <algorithm>
#include <numeric>

namespace tilewise::base {

namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string propose(std::string_view wanted, std::vector<proposal> all) {
  std::stable_sort(all.begin(), all.end(), [&](const proposal& a, const proposal& b) {
    return edit_distance(wanted, a.written) < edit_distance(wanted, b.written);
  });
  std::vector<std::string> shown;
  for (const proposal& p : all)
    if (shown.size() < 3 && std::find(shown.begin(), shown.end(), p.shown) == shown.end()) shown.push_back(p.shown);
  std::string text = " did you mean ";
  for (std::size_t i = 0; i < shown.size(); ++i)
    text += (i == 0 ? "" : i + 1 == shown.size() ? " or " : ", ") + shown[i];
  return shown.empty() ? "" : text + "?";
}

std::string nearest(std::string_view wanted, std::span<const std::string> names) {
  std::vector<proposal> all;
  for (const std::string& name : names) all.push_back({name, name});
  return propose(wanted, std::move(all));
}

}  // namespace tilewise::base
