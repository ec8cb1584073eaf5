// SPDX-License-Identifier: Apache-2.0
// What to treat with care: which times of a problem are in doubt and why, which rows failed, and what was not measured.
#include "report/findings.hpp"
#include "report/format.hpp"
#include "report/sections/sections.hpp"

#include "registry/catalog.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace tilewise::report {

namespace {

template <class Visit>
void each_row(const panel& p, Visit&& visit) {
  for (const board& b : p.boards)
    for (const series& s : b.all)
      for (const row* r : s.rows) visit(*r);
}

/// The range of sizes with one reason: "1,024 to 67,108,865".
std::string range(const std::map<std::pair<std::uint64_t, std::string>, std::string>& sizes) {
  const std::string &first = sizes.begin()->second, &last = sizes.rbegin()->second;
  return sizes.size() == 1 ? first : first + " to " + last;
}

/// Rows without a time; the wrong ones come first.
std::vector<html> failures(const panel& p) {
  std::vector<html> items;
  std::map<std::pair<std::string, std::string>, std::map<std::pair<std::uint64_t, std::string>, std::string>> sizes_of;
  each_row(p, [&](const row& r) {
    const std::string who = r.variant + " on " + r.device;
    if (r.wrong())
      items.push_back(tag("strong", {{"class", "wrong"}},
                          html::sentence(who + " at " + r.at() + " is WRONG; its time is not shown.")) +
                      html::sentence(" " + r.reason));
    else if (!r.is_ok())
      sizes_of[{who, why_untimed(r)}][{r.n, r.shape}] = r.size();
  });
  for (const auto& [who_and_why, sizes] : sizes_of)
    items.push_back(html::sentence(who_and_why.first + " has no time at " + range(sizes) + ": " + who_and_why.second));
  return items;
}

struct doubts {
  std::size_t times = 0, wide = 0, none = 0;
  std::vector<html> impossible;
  std::size_t beyond = 0;  // of these: above a limit in doubt, so maybe true

  std::size_t all() const { return wide + none + impossible.size(); }
};

doubts doubts_of(const panel& p) {
  doubts found;
  each_row(p, [&](const row& r) {
    if (r.is_limit()) return;
    found.times += r.timed();
    if (!r.timed() || r.ranked()) return;
    if (!r.plausible) {
      const bool is_beyond = r.is_above_limit_in_doubt();
      found.beyond += is_beyond;
      found.impossible.push_back(html::sentence(r.variant + " on " + r.device + " at " + r.at() +
                                                (is_beyond ? " is " : " ") + r.doubt() + "."));
    } else if (r.kernel->spread())
      ++found.wide;
    else
      ++found.none;
  });
  return found;
}

std::string told(const doubts& d) {
  if (d.all() == 0) return "";
  std::vector<std::string> why;
  if (d.wide > 0) why.push_back(count(d.wide) + (d.wide == 1 ? " has" : " have") + " an interval wider than ± 5 %");
  if (d.none > 0) why.push_back(count(d.none) + (d.none == 1 ? " has" : " have") + " none");
  if (d.beyond > 0) why.push_back(count(d.beyond) + (d.beyond == 1 ? " is" : " are") + " above a limit in doubt");
  if (d.impossible.size() > d.beyond) why.push_back(count(d.impossible.size() - d.beyond) + " cannot be true");
  return count(d.all()) + " of " + count(d.times) + " times here are in doubt: " + listed(why, 4) + ".";
}

}  // namespace

time_counts counts_of(const panel& p) {
  const doubts found = doubts_of(p);
  return {found.times, found.all()};
}

html doubt_section(const panel& p) {
  const doubts found = doubts_of(p);
  html section;
  if (const std::string text = told(found); !text.empty())
    section += tag("p", {{"class", "note"}}, html::sentence(text));
  std::vector<html> items = failures(p);
  items.insert(items.end(), found.impossible.begin(), found.impossible.end());
  constexpr std::size_t most_open = 4;  // a reader can take in as many at a glance
  if (items.empty()) return section;
  const html all = list("ul", {{"class", "note"}}, items);
  return section +
         (items.size() <= most_open
              ? all
              : folded(count(items.size()) + " results without a time, or with one that cannot be true", all));
}

html not_measured(const model& m) {
  std::set<std::string_view> there;
  for (const row& r : m.rows) there.insert(r.variant);
  std::vector<std::string> missing;
  for (const registry::variant& v : registry::variants())
    if (const std::string id = v.id(); !there.contains(id)) missing.push_back(id);
  if (missing.empty()) return {};
  constexpr std::size_t most_named = 12;
  return tag("p", {{"class", "note"}}, html::sentence("Not measured: " + listed(missing, most_named) + "."));
}

}  // namespace tilewise::report
