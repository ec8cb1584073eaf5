// SPDX-License-Identifier: Apache-2.0
// What ranks compare before they begin.
#include "tool/ranks/agreement.hpp"

#include "backend/group/device.hpp"
#include "registry/catalog.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

namespace tilewise::tests {
namespace {

using cli::rank_call;

rank_call with(std::vector<std::string> words) { return cli::call_of(words); }

TEST(RankAgreement, LeavesOutWhatARankMayHaveToItself) {
  const std::vector<std::string> common{"sort", "/x.npy", "-o", "/y.npy"};
  EXPECT_EQ(with({"sort", "/x.npy", "--device", "cuda", "-o", "--threads=3", "/y.npy", "--time-limit", "9"}).words,
            common);
  EXPECT_EQ(with({"sort", "/x.npy", "-o", "/y.npy", "--device"}).words, common);
  EXPECT_EQ(with({"sort", "/x.npy", "--devices", "-o"}).words,
            (std::vector<std::string>{"sort", "/x.npy", "--devices", "-o"}));
}

TEST(RankAgreement, NamesTheFirstRankThatDiffers) {
  const rank_call one = with({"scan", "/x.npy", "--op", "max"});
  EXPECT_EQ(difference(std::vector{one}), "");
  EXPECT_EQ(difference(std::vector{one, one, one}), "");
  EXPECT_TRUE(difference(std::vector{one, one, with({"scan", "/x.npy", "--op", "min"}), with({"sort"})})
                  .starts_with("rank 2 was started with 'min' where rank 0 has 'max'"));
  EXPECT_TRUE(difference(std::vector{one, with({"scan", "/x.npy", "--op"})})
                  .starts_with("rank 1 was started with nothing where rank 0 has 'max'"));
  EXPECT_TRUE(difference(std::vector{with({"scan"}), with({"scan", ""})})
                  .starts_with("rank 1 was started with '' where rank 0 has nothing"));
  EXPECT_TRUE(difference(std::vector{one, with({"scan", "/x.npy", "--op", "max", "-v"})})
                  .starts_with("rank 1 was started with '-v' where rank 0 has nothing"));
}

/// Compares the whole words, not only the part that a message shows.
TEST(RankAgreement, ComparesWholeWords) {
  const std::string begun(299, 'x');
  EXPECT_TRUE(difference(std::vector{with({"scan", begun + "a"}), with({"scan", begun + "b"})})
                  .starts_with("rank 1 was started with 'xx"));
  EXPECT_TRUE(difference(std::vector{with({"scan", "a\nb"}), with({"scan", "a\\x0ab"})})
                  .starts_with("rank 1 was started with 'a\\x0ab' where"));
}

TEST(RankAgreement, NamesAnotherBuild) {
  const rank_call one = with({"scan"});
  rank_call other = one;
  other.build = "9.9 with order 7";
  EXPECT_TRUE(difference(std::vector{one, other}).starts_with("rank 1 is tilewise 9.9 with order 7, rank 0 is 0."));
}

TEST(RankAgreement, ComparesFoldersWhereFilesAreNamedFromThem) {
  for (const char* word :
       {"/", "--values=/", "--values=", "--values=not_there", "../not_there", "-o/", "-vo/", "-onot_there", "-v"})
    EXPECT_EQ(with({"sort", "/x.npy", word}).folder, "") << word;
  const rank_call here = with({"scan", "."});
  for (const char* word : {".", "..", "./.", "../.", "--values=.", "--values=../.", "-o.", "-vo.", "-o../."})
    EXPECT_EQ(with({"sort", "/x.npy", word}).folder, std::filesystem::current_path()) << word;
  rank_call elsewhere = here;
  elsewhere.folder = "/elsewhere";
  EXPECT_TRUE(
      difference(std::vector{here, here, elsewhere}).starts_with("rank 2 looks for files in /elsewhere, rank 0 in /"));
}

TEST(RankAgreement, TellsApartProblemsThatDifferInAnything) {
  std::set<std::string> texts;
  std::size_t problems = 0;
  const auto add = [&](const registry::problem& p) { texts.insert(cli::in_full(p)), ++problems; };
  for (const registry::algorithm* const what : registry::algorithms()) {
    registry::problem one{.what = what, .type = what->types.front(), .shape = what->edge_shapes.front()};
    one.number.fill(base::scalar_value::of(0.5));
    add(one);
    for (const dtype type : what->types.subspan(1)) {
      registry::problem other = one;
      other.type = type;
      add(other);
    }
    for (unsigned i = 0; i < one.shape.rank; ++i) {
      registry::problem other = one;
      other.shape.size[i] += 1 << 20;
      add(other);
    }
    for (std::size_t i = 0; i < what->settings.size(); ++i)
      for (std::uint8_t word = 1; word < what->settings[i].values.size(); ++word) {
        registry::problem other = one;
        other.setting[i] = word;
        add(other);
      }
    for (std::size_t i = 0; i < what->numbers.size(); ++i) {
      registry::problem other = one;
      other.number[i].bits ^= 1;
      add(other);
    }
  }
  EXPECT_EQ(texts.size(), problems);
}

TEST(RankAgreement, FindsTheFirstTwoRanksOfOneGpu) {
  using backend::group::find_sharing, backend::group::gpu_identity;
  const gpu_identity none{}, a{1}, b{0, 1}, c{2};
  EXPECT_FALSE(find_sharing(std::vector<gpu_identity>{}));
  EXPECT_FALSE(find_sharing(std::vector{none, none, none}));
  EXPECT_FALSE(find_sharing(std::vector{a, b, none, c}));
  const auto found = find_sharing(std::vector{c, none, a, b, none, b, a});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->first, 3u);
  EXPECT_EQ(found->second, 5u);
}

}  // namespace
}  // namespace tilewise::tests
