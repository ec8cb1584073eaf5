// SPDX-License-Identifier: Apache-2.0
#include "report/roofline/levels.hpp"

#include <algorithm>

namespace tilewise::report {

namespace {

constexpr double width = 1.15;

double median_speed(std::span<const reading> run) {
  std::vector<double> speeds;
  for (const reading& r : run) speeds.push_back(r.bytes_per_s);
  std::nth_element(speeds.begin(), speeds.begin() + static_cast<std::ptrdiff_t>(speeds.size() / 2), speeds.end());
  return speeds[speeds.size() / 2];
}

/// How many readings from the first on are a run.
std::size_t run_length(std::span<const reading> from) {
  double least = from[0].bytes_per_s, most = least;
  std::size_t n = 0;
  for (; n < from.size(); ++n) {
    least = std::min(least, from[n].bytes_per_s);
    most = std::max(most, from[n].bytes_per_s);
    if (most > width * least) break;
  }
  return n;
}

void find_runs(std::span<const reading> among, std::vector<std::span<const reading>>& found) {
  std::size_t first = 0, longest = 0;
  for (std::size_t i = 0; i < among.size(); ++i)
    if (const std::size_t n = run_length(among.subspan(i)); n > longest) first = i, longest = n;
  const std::span<const reading> run = among.subspan(first, longest);
  if (longest < 3 || run.back().bytes < 2 * run.front().bytes) return;
  find_runs(among.first(first), found);
  found.push_back(run);
  find_runs(among.subspan(first + longest), found);
}

bool are_alike(double one, double other) { return std::max(one, other) < width * std::min(one, other); }

}  // namespace

std::vector<memory_level> levels_of(std::span<const reading> by_size) {
  std::vector<std::span<const reading>> runs;
  find_runs(by_size, runs);
  std::vector<memory_level> levels;
  for (const auto& run : runs) {
    const double speed = median_speed(run);
    while (!levels.empty() && levels.back().bytes_per_s * width <= speed) levels.pop_back();
    if (!levels.empty() && are_alike(levels.back().bytes_per_s, speed))
      levels.back().to = run.back().bytes;
    else
      levels.push_back({run.front().bytes, run.back().bytes, speed});
  }
  return levels;
}

double speed_for(double bytes, std::span<const reading> by_size, std::span<const memory_level> levels) {
  for (const memory_level& level : levels)
    if (bytes <= level.to && (bytes >= level.from || &level == &levels.front())) return level.bytes_per_s;
  const auto next = std::find_if(by_size.begin(), by_size.end(), [&](const reading& r) { return r.bytes > bytes; });
  double most = 0;
  for (auto r = next == by_size.begin() ? next : std::prev(next); r != by_size.end(); ++r)
    most = std::max(most, r->bytes_per_s);
  return most;
}

}  // namespace tilewise::report
