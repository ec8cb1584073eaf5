// SPDX-License-Identifier: Apache-2.0
// Slices that several threads take, as when they read or write one file, and what else these threads share.
#include "base/slices.hpp"
#include "base/lasting.hpp"

#include <tilewise/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <latch>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace tilewise {
namespace {

TEST(slices, NoMoreThreadsTakeThemThanMay) {
  for (const unsigned most : {1u, 2u}) {
    std::mutex mutex;
    std::set<std::thread::id> seen;
    base::for_each_slice(100, 1, most, [&](std::uint64_t, std::uint64_t) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      const std::lock_guard lock(mutex);
      seen.insert(std::this_thread::get_id());
    });
    EXPECT_LE(seen.size(), most);
  }
}

TEST(slices, EachIsGivenOnceAndTheFirstFailureEndsThem) {
  std::vector<std::atomic<int>> seen(1001);
  base::for_each_slice(1001, 10, 8, [&](std::uint64_t begin, std::uint64_t end) {
    EXPECT_EQ(end, std::min<std::uint64_t>(begin + 10, 1001));
    for (; begin < end; ++begin) ++seen[begin];
  });
  for (const auto& times : seen) EXPECT_EQ(times, 1);
  std::atomic<int> calls{0};
  const auto fails_once = [&](std::uint64_t begin, std::uint64_t) {
    ++calls;
    if (begin == 0) throw error(errc::io, "planned");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  constexpr int many = 200'000;  // some minutes: a failure is noticed, however late
  EXPECT_THROW(base::for_each_slice(many, 1, 8, fails_once), error);
  EXPECT_LT(calls, many);
  base::for_each_slice(0, 10, 8, fails_once);
  const auto fails = [](std::uint64_t, std::uint64_t) { throw error(errc::io, "planned"); };
  for (int again = 0; again < 50; ++again) EXPECT_THROW(base::for_each_slice(8, 1, 8, fails), error);
}

/// One slice for each of two threads; neither ends before the other has begun.
TEST(slices, TheFailureOfAnyThreadIsThrown) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "there is one thread";
  const std::thread::id caller = std::this_thread::get_id();
  for (const bool of_caller : {true, false}) {
    std::latch both(2);
    const auto one_fails = [&](std::uint64_t, std::uint64_t) {
      both.arrive_and_wait();
      if ((std::this_thread::get_id() == caller) == of_caller) throw error(errc::io, "planned");
    };
    EXPECT_THROW(base::for_each_slice(2, 1, 2, one_fails), error) << of_caller;
  }
}

TEST(guarded, OneThreadAtATimeUsesIt) {
  base::guarded<int> shared;
  std::atomic<int> inside{0}, wrong{0};
  std::vector<std::thread> users;
  for (int i = 0; i < 4; ++i)
    users.emplace_back([&] {
      for (int again = 0; again < 20; ++again)
        shared.with([&](int& times) {
          wrong += ++inside != 1;
          std::this_thread::sleep_for(std::chrono::microseconds(50));
          --inside;
          return ++times;
        });
    });
  for (std::thread& user : users) user.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(shared.with([](int& times) { return times; }), 80);
}

}  // namespace
}  // namespace tilewise
