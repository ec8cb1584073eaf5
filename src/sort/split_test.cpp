// SPDX-License-Identifier: Apache-2.0
// Where sorted runs are cut, held against their merge written out: by one process that reads them all, and by ranks
// that tell each other samples.
#include "sort/split.hpp"
#include "sort/group/split.hpp"

#include <tilewise/tilewise.hpp>

#include <algorithm>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

namespace tilewise {
namespace {

/// What precedes the cuts in a stable merge, run by run.
std::vector<std::uint64_t> cuts_of_merge(const std::vector<std::vector<std::uint32_t>>& runs, std::uint64_t rank) {
  std::vector<std::pair<std::uint32_t, std::size_t>> merged;
  for (std::size_t k = 0; k < runs.size(); ++k)
    for (std::uint32_t code : runs[k]) merged.emplace_back(code, k);
  std::stable_sort(merged.begin(), merged.end(), [](auto& a, auto& b) { return a.first < b.first; });
  std::vector<std::uint64_t> cuts(runs.size(), 0);
  for (std::uint64_t i = 0; i < rank; ++i) ++cuts[merged[i].second];
  return cuts;
}

TEST(SortSplit, CutsRunsWhereTheirMergeHasTheRank) {
  std::mt19937 random(7);
  for (std::uint32_t most : {0u, 1u, 3u, 1000u, ~0u})
    for (const std::vector<std::size_t>& lengths :
         {std::vector<std::size_t>{}, {0}, {1}, {0, 5, 0}, {17, 16, 1, 40}, {3, 3, 3, 3, 3}}) {
      std::vector<std::vector<std::uint32_t>> runs;
      for (std::size_t length : lengths) {
        auto& run = runs.emplace_back(length);
        for (std::uint32_t& code : run) code = std::uniform_int_distribution<std::uint32_t>(0, most)(random);
        if (!run.empty() && most == ~0u) run.front() = ~0u, run.back() = 0;
        std::sort(run.begin(), run.end());
      }
      const std::vector<std::uint64_t> counts(lengths.begin(), lengths.end());
      const std::uint64_t total = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
      for (std::uint64_t rank = 0; rank <= total; ++rank) {
        const auto code_at = [&](std::size_t k, std::uint64_t i) { return runs[k].at(i); };
        ASSERT_EQ(impl::sort::split_runs<std::uint32_t>(counts, rank, code_at), cuts_of_merge(runs, rank)) << rank;
      }
    }
}

/// What a rank tells of its bracket: some of its elements at equal distances, or none.
using tested_offer = impl::sort::offer<std::uint32_t, 1024>;
tested_offer offer_of(impl::sort::bracket of, const std::vector<std::uint32_t>& run, std::mt19937& random) {
  tested_offer made{.of = of, .distance = 1 + random() % 8};
  made.first = of.begin + random() % made.distance % std::max<std::uint64_t>(1, of.length());
  for (std::uint64_t i = made.first; i < of.end; i += made.distance) made.code[made.samples++] = run[i];
  return made;
}

/// Narrows brackets as ranks do, and holds each against where the merge has its cut.
void expect_cuts(const std::vector<std::vector<std::uint32_t>>& runs, std::uint64_t all, std::uint64_t rank,
                 std::mt19937& random) {
  using namespace impl::sort;
  const std::vector<std::uint64_t> cuts = cuts_of_merge(runs, rank);
  const auto ranks = static_cast<unsigned>(runs.size());
  std::vector<bracket> left;
  for (const auto& run : runs) left.push_back(first_bracket(run.size(), all, rank));
  const auto is_found = [](const bracket& b) { return b.length() == 0; };
  for (int round = 0; !std::all_of(left.begin(), left.end(), is_found); ++round) {
    ASSERT_LT(round, 1000) << "no end";
    std::vector<tested_offer> offers;
    for (unsigned k = 0; k < ranks; ++k) offers.push_back(offer_of(left[k], runs[k], random));
    const auto offered = [&](unsigned k) -> const tested_offer& { return offers[k]; };
    for (unsigned k = 0; k < ranks; ++k) {
      left[k] = narrowed(offered, ranks, k, rank);
      ASSERT_LE(left[k].begin, cuts[k]) << "run " << k << ", rank " << rank;
      ASSERT_GE(left[k].end, cuts[k]) << "run " << k << ", rank " << rank;
    }
  }
}

TEST(SortSplit, RanksThatOfferSamplesFindWhereToCut) {
  std::mt19937 random(8);
  for (std::uint32_t most : {0u, 3u, 1000u, ~0u})
    for (const std::vector<std::size_t>& lengths :
         {std::vector<std::size_t>{1, 0}, {0, 5, 0}, {17, 16, 1, 40}, {200, 150}, {60, 60, 60, 60, 60}}) {
      std::vector<std::vector<std::uint32_t>> runs;
      for (std::size_t length : lengths) {
        auto& run = runs.emplace_back(length);
        for (std::uint32_t& code : run) code = std::uniform_int_distribution<std::uint32_t>(0, most)(random);
        std::sort(run.begin(), run.end());
      }
      const std::uint64_t total = std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0});
      for (std::uint64_t rank = 0; rank <= total; ++rank) {
        expect_cuts(runs, total, rank, random);
        if (HasFatalFailure()) return;
      }
    }
}

/// Their samples are taken by kernels, of many ranks others than of few; each part has more elements than either takes.
TEST(SortSplit, GroupsOfDevicesWithMemoryOfTheirOwnSortAlike) {
  std::mt19937 random(8);
  std::vector<std::uint32_t> x(4200);
  for (std::uint32_t& key : x) key = static_cast<std::uint32_t>(random());
  std::vector<std::uint32_t> expected = x;
  std::sort(expected.begin(), expected.end());
  for (const device& on : devices()) {
    if (on.info().backend != "opencl" && on.info().backend != "cuda") continue;
    for (const char* ranks : {"3*", "6*"})
      EXPECT_EQ(sorted(x, {.device = open(ranks + std::string(on.name()))}), expected) << ranks << on.name();
  }
}

}  // namespace
}  // namespace tilewise
