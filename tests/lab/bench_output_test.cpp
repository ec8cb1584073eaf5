// SPDX-License-Identifier: Apache-2.0
// Which records are in the file of `bench` if it ends early, and which of several failures decides the exit code.
#include "scratch_folder.hpp"
#include "tool/bench/output.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>

#include <unistd.h>

#include <gtest/gtest.h>

namespace tilewise::tests {
namespace {

constexpr std::size_t rows_of_group = 2, groups = 3;

std::vector<lab::measured> rows_of(std::size_t group) {
  std::vector<lab::measured> rows(rows_of_group);
  for (lab::measured& m : rows) {
    m.result.what.group = "group " + std::to_string(group);
    m.end(record::status::skipped, "nothing is measured here");
  }
  return rows;
}

/// Visits each group once, and then again in this order. Ends after this many visits.
void end_after(std::size_t visits, const std::array<std::size_t, groups>& order, const std::string& file) {
  if (std::freopen("/dev/null", "w", stdout) == nullptr) _exit(1);
  cli::bench_output output({.records = file, .report = "", .quiet = true}, {});
  for (std::size_t i = 0; i < visits; ++i)
    i < groups ? output.hold(rows_of(i)) : output.keep("", rows_of(order[i - groups]));
  cli::end_at_once(cli::exit_code::ok);
}

TEST(BenchOutputDeathTest, WhatWasVisitedIsWrittenOnceWhereverItEnds) {
  const scratch_folder folder;
  std::array<std::size_t, groups> order{0, 1, 2};
  do {
    for (std::size_t visits = 0; visits <= 2 * groups; ++visits) {
      const std::string file = (folder.path() / "r.jsonl").string();
      std::filesystem::remove(file);
      EXPECT_EXIT(end_after(visits, order, file), testing::ExitedWithCode(0), "");
      std::array<std::size_t, groups> written{};
      std::ifstream lines(file);
      for (std::string line; std::getline(lines, line);)
        for (std::size_t g = 0; g < groups; ++g) written[g] += line.find("group " + std::to_string(g)) != line.npos;
      for (std::size_t g = 0; g < groups; ++g)
        EXPECT_EQ(written[g], g < visits ? rows_of_group : 0)
            << "group " << g << " after " << visits << " visits, the second ones from group " << order[0] << " on";
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

/// The order of the two failures does not matter.
TEST(ExitCodes, OfAnyTwoTheGraverDecides) {
  using enum cli::exit_code;
  constexpr std::array from_the_gravest{wrong_result, internal, device_lost, out_of_memory,
                                        unavailable,  io,       regression,  ok};
  for (std::size_t i = 0; i < from_the_gravest.size(); ++i)
    for (std::size_t k = i; k < from_the_gravest.size(); ++k) {
      const cli::exit_code graver = from_the_gravest[i], other = from_the_gravest[k];
      EXPECT_EQ(cli::graver(graver, other), graver) << static_cast<int>(other);
      EXPECT_EQ(cli::graver(other, graver), graver) << static_cast<int>(other);
    }
}

}  // namespace
}  // namespace tilewise::tests
