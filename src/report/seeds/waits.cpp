// SPDX-License-Identifier: Apache-2.0
// Where the parts of a call wait for each other, for each program of a document and for ours; and how often the host
// waits that drives Karatsuba's recursion.
#include "report/format.hpp"
#include "report/seeds/seeds.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace tilewise::report {

namespace {

struct meeting {
  std::string_view variant;  // on any backend, or of one: "polymul:cpu:naive"
  const char* where;
};

constexpr std::array<meeting, 21> meetings{
    {{"polymul:global", "nowhere: each item has its own coefficient"},
     {"polymul:local", "one barrier in a group, after both factors are loaded"},
     {"polymul:tiles", "two barriers in a group for each step of the window"},
     {"polymul:cpu:naive", "threads meet once, at the end"},
     {"polymul:cpu:karatsuba", "threads meet after the products, and after each level that joins them"},
     {"polymul:karatsuba", "kernels follow each other in one queue, level by level"},
     {"polymul:karatsuba_host", "the host waits after each kernel"},
     {"polymul:cpu:ntt", "threads meet after each phase: tables, columns, blocks, columns"},
     {"polymul:ntt", "barriers in a group within a pass; passes follow each other in one queue"},
     {"scan:blelloch", "a barrier in a group for each level of both sweeps; kernels follow each other in one queue"},
     {"scan:sweep_add", "a barrier for each level of both sweeps, and one more to share the carry where it is local"},
     {"scan:chunked", "four barriers a tile; chunks follow each other in one queue"},
     {"scan:lookback", "tiles wait for the totals that earlier tiles publish in global memory"},
     {"diffuse:hiperc", "loops or kernels of a step follow each other; three for each step"},
     {"diffuse:hiperc_openmp", "threads meet after each loop: four times for each step"},
     {"diffuse:hiperc_tbb", "threads meet after each loop: three times for each step"},
     {"diffuse:tiles", "a barrier in a group after its tile and halo are loaded; steps follow each other in one queue"},
     {"matmul:blocked16", "two barriers in a group for each block of k"},
     {"reduce:doubling", "a barrier in a group for each step; the kernel of the groups’ sums waits for the first"},
     {"reduce:two_phase", "barriers in a group; the second kernel waits for the first"},
     {"sort:merge_rank", "passes follow each other in one queue; items never meet within one"}}};

/// "nowhere", or how often the ranks exchange what they have.
std::string waits_of_ranks(const row& r) {
  if (r.ranks->number == 1) return "nowhere: there is one rank";
  if (!r.ranks->exchanges) return "ranks meet when they exchange their parts";
  return "each of " + count(r.ranks->number) + " ranks waits in " + count(*r.ranks->exchanges) +
         (*r.ranks->exchanges == 1 ? " exchange" : " exchanges");
}

/// Empty if it is not known.
std::string waits_of(const row& r) {
  if (r.ranks) return waits_of_ranks(r);
  if (r.is_cpu && r.threads == 1) return "nowhere: there is one thread";
  const std::string name = short_name(r.variant), tail = name.substr(name.rfind(':') + 1);
  for (const std::string& key : {r.algorithm + ":" + name, r.algorithm + ":" + tail})
    for (const meeting& m : meetings)
      if (m.variant == key) return m.where;
  return "";
}

/// A program, and our variants that repeat it and wait alike.
struct waiting {
  std::string program, where;
  std::vector<std::string> variants;
};

std::vector<waiting> waits_in(const document_study& s) {
  std::vector<waiting> all;
  for (const document_problem& p : s.sizes)
    for (const row* r : p.rows) {
      const std::string where = waits_of(*r), program = system_of(*r), name = short_name(r->variant);
      if (where.empty() || (program.empty() && r->is_cpu && r->threads == 1)) continue;
      auto known = std::find_if(all.begin(), all.end(),
                                [&](const waiting& w) { return w.program == program && w.where == where; });
      if (known == all.end()) known = all.insert(all.end(), {program, where, {}});
      auto& names = known->variants;
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  // The document's programs come first.
  std::stable_partition(all.begin(), all.end(), [](const waiting& w) { return !w.program.empty(); });
  return all;
}

std::uint64_t number_of(const row& r, const std::string& name) {
  for (const auto& [part, word] : tuning_parts(r.tuning))
    if (part == name && word.size() < 10 && word.find_first_not_of("0123456789") == word.npos) return std::stoull(word);
  return 0;
}

/// Counts the kernels of the recursion that the host drives: it halves a factor while the halves are at least `base`
/// long, and at most `depth` times.
html launches_of_the_host(const document_study& s) {
  std::vector<std::vector<html>> rows;
  for (const document_problem& p : s.sizes)
    for (const row* r : p.rows) {
      if (!r->variant.ends_with(":karatsuba_host") || number_of(*r, "base") == 0) continue;
      std::uint64_t levels = 0, products = 1, joins = 0;
      for (; levels < number_of(*r, "depth") && r->n >> (levels + 1) >= number_of(*r, "base"); ++levels) {
        joins += products;
        products *= 3;
      }
      const auto time = median_of(r, true);
      rows.push_back(
          {html::text(r->size() + " @" + place_of(*r)), html::text(count(levels)), html::text(count(products)),
           html::text(count(joins)), html::text(transfers_text(*r)),
           html::text(time ? marked(is_counted_sure(*r, true), duration(*time / static_cast<double>(products + joins)))
                           : "–")});
    }
  if (rows.empty()) return {};
  return table("Launches of the recursion that the host drives. It waits after each, and sends and fetches its data.",
               {"size", "levels", "launches for products", "launches that combine", "time with transfers",
                "time for each launch"},
               rows);
}

}  // namespace

html what_waits_where(const document_study& s) {
  std::vector<std::vector<html>> rows;
  for (const waiting& w : waits_in(s))
    rows.push_back(
        {html::text(w.program.empty() ? "–" : w.program), html::text(listed(w.variants, 6)), html::text(w.where)});
  if (rows.empty()) return {};
  return tag("h4", "What waits where?") +
         table("Where the parts of a call wait for each other.", {"program", "ours", "waits"}, rows, content::words) +
         launches_of_the_host(s);
}

}  // namespace tilewise::report
