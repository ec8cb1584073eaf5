// SPDX-License-Identifier: Apache-2.0
// What the lecture on data parallelism works out by hand, computed: recursive doubling step by step, its cost, and the
// laws of speedup.
#include "report/format.hpp"
#include "report/seeds/seeds.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

namespace tilewise::report {

namespace {

using table_lines = std::vector<std::vector<html>>;

std::string spaced(const std::vector<std::uint64_t>& values) {
  std::string text;
  for (const std::uint64_t v : values) text += (text.empty() ? "" : " ") + count(v);
  return text;
}

/// The sum of 1 to p, p a power of two. In step k processor i is active if i = m 2^k - 1, and adds A[i - 2^(k-1)].
html recursive_doubling(std::uint64_t p) {
  std::vector<std::uint64_t> array(p);
  std::iota(array.begin(), array.end(), 1);
  table_lines steps{{"start", "", html::text(spaced(array))}};
  std::uint64_t additions = 0;
  for (std::uint64_t k = 1, reach = 1; reach < p; ++k, reach *= 2) {
    std::vector<std::uint64_t> active;
    for (std::uint64_t i = 2 * reach - 1; i < p; i += 2 * reach) {
      array[i] += array[i - reach];
      active.push_back(i);
    }
    additions += active.size();
    steps.push_back({html::text("k = " + count(k)), html::text(spaced(active)), html::text(spaced(array))});
  }
  const std::uint64_t cost = p * (steps.size() - 1);
  return table("Recursive doubling, " + count(p) + " processors.", {"step", "active processors", "array"}, steps,
               content::words) +
         paragraph("Cost, p log p: " + count(cost) + ". Additions of active processors alone: " + count(additions) +
                   ", as many as a serial sum has. So it is work-optimal only if idle processors do not count.");
}

/// How many of C's n x n elements one formula's rows and columns, block * step + thread, reach, and how many it reaches
/// outside of C.
struct covered {
  std::uint64_t inside = 0, outside = 0;
};

covered reached_with(std::uint64_t n, std::uint64_t b, std::uint64_t step) {
  std::set<std::uint64_t> lines;
  for (std::uint64_t block = 0; block < n / b; ++block)
    for (std::uint64_t thread = 0; thread < b; ++thread) lines.insert(block * step + thread);
  const auto within = static_cast<std::uint64_t>(
      std::count_if(lines.begin(), lines.end(), [n](std::uint64_t line) { return line < n; }));
  return {within * within, lines.size() * lines.size() - within * within};
}

/// The lecture asks whether C[Bid_y * N/b + Tid_y] is the element's row, and which threads use what one fetched.
html index_questions() {
  table_lines rows;
  for (const auto& [n, b] : {std::pair<std::uint64_t, std::uint64_t>(16, 4), {16, 2}, {16, 8}}) {
    const covered theirs = reached_with(n, b, n / b), ours = reached_with(n, b, b);
    rows.push_back({html::text("N = " + count(n) + ", b = " + count(b)), html::text(count(n * n)),
                    html::text(count(theirs.inside)), html::text(count(theirs.outside)), html::text(count(ours.inside)),
                    html::text(count(ours.outside))});
  }
  return table("Elements of C that the threads of all blocks reach.",
               {"blocks", "elements", "row Bid_y * N/b + Tid_y", "outside C", "row Bid_y * b + Tid_y", "outside C"},
               rows) +
         paragraph(
             "Is the equation correct? Only where N is the square of b: a block has b rows, so its first row is "
             "Bid_y * b, and its elements are C[Bid_y * b : Bid_y * b + b - 1][Bid_x * b : Bid_x * b + b - 1].") +
         paragraph(
             "Which threads use what thread (Tid_y, Tid_x) fetched? Its element of A the b threads of the same "
             "Tid_y, its element of B the b threads of the same Tid_x.") +
         paragraph("How many sums remain after phase I? S, one for each block.");
}

/// Over one processor, for a serial share s of the time.
double amdahl(double s, double f) { return 1 / (s + (1 - s) / f); }
double gustafson(double s, double p) { return s + (1 - s) * p; }

html laws(double s, std::uint64_t p) {
  const auto many = static_cast<double>(p);
  const double pair = amdahl(s, 2), time = 1 / pair;
  const table_lines rows{
      {"speedup, serial time 1, parallel time 0.8", html::text(factor(1 / 0.8))},
      {html::text("Amdahl, S = " + factor(s) + ", 2 processors: speedup"), html::text(factor(pair))},
      {"its average efficiency", html::text(factor(pair / 2))},
      {"efficiency of P1, parallel work only", html::text(factor((1 - s) / 2 / time))},
      {"efficiency of P2, serial work too", html::text(factor((s + (1 - s) / 2) / time))},
      {html::text("Amdahl, S = " + factor(s) + ", p = " + count(p) + ": speedup"), html::text(factor(amdahl(s, many)))},
      {"its limit for any number of processors, 1 / S", html::text(factor(1 / s))},
      {html::text("Gustafson, S = " + factor(s) + ", p = " + count(p) + ": S + (1 - S) p"),
       html::text(factor(gustafson(s, many)))},
      {"its approximation, (1 - S) p", html::text(factor((1 - s) * many))}};
  return table("Speedup, efficiency and both laws.", {"worked example", "value"}, rows);
}

}  // namespace

html lecture_worked() {
  return tag("h3", "The lecture’s examples, worked") + recursive_doubling(8) + laws(0.5, 32) + index_questions();
}

}  // namespace tilewise::report
