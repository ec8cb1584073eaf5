// SPDX-License-Identifier: Apache-2.0
// The executors and the CPU device's queue: the order of tiles, exceptions, calls from many threads, workspace.
#include "backend/cpu/device.hpp"
#include "backend/cpu/wait.hpp"

#include <tilewise/tilewise.hpp>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>
#include <malloc.h>

namespace tilewise::backend::cpu {
namespace {

struct setup {
  std::string executor;
  unsigned threads;
};

std::vector<setup> setups() {
  std::vector<setup> all;
  for (std::string_view name : executor_names())
    for (unsigned threads : {1u, 2u, 3u, 7u, 16u})
      if (name != "serial" || threads == 1) all.push_back({std::string(name), threads});
  return all;
}

class Executors : public testing::TestWithParam<setup> {
 protected:
  tilewise::device device_ = open("cpu:" + GetParam().executor, {.threads = GetParam().threads});
  cpu::queue& queue_ = static_cast<cpu::queue&>(device_.implementation().queue());
};

std::string name_of_setup(const testing::TestParamInfo<setup>& info) {
  return info.param.executor + std::to_string(info.param.threads);
}

INSTANTIATE_TEST_SUITE_P(All, Executors, testing::ValuesIn(setups()), name_of_setup);

TEST_P(Executors, EveryTileRunsOnceAndStartsInAscendingOrder) {
  // A tile may wait until all lower ones have started, even with 16 workers on fewer cores.
  std::atomic<std::uint64_t> started{0};
  std::vector<int> runs(500);
  queue_.for_each_tile(runs.size(), [&](std::uint64_t tile, unsigned worker) {
    EXPECT_LT(worker, queue_.threads());
    spin_until([&] { return started.load() == tile; });
    started.store(tile + 1);
    ++runs[tile];
  });
  for (int n : runs) EXPECT_EQ(n, 1);
}

TEST_P(Executors, AWorkerHasOneTileAtATime) {
  std::vector<std::atomic<int>> inside(queue_.threads());
  std::atomic<bool> alone{true};
  queue_.for_each_tile(400, [&](std::uint64_t, unsigned worker) {
    if (inside[worker].fetch_add(1) != 0) alone = false;
    std::this_thread::yield();
    inside[worker].fetch_sub(1);
  });
  EXPECT_TRUE(alone);
}

TEST_P(Executors, AnExceptionOfABodyIsThrownAgainAndTheTeamGoesOn) {
  for (int repetition = 0; repetition < 20; ++repetition) {
    std::atomic<std::uint64_t> ran{0};
    const auto body = [&](std::uint64_t tile, unsigned) {
      if (tile == 5) throw std::runtime_error("tile 5");
      ++ran;
    };
    EXPECT_THROW(queue_.for_each_tile(10'000, body), std::runtime_error);
    EXPECT_LE(ran, 9'999u);
    std::atomic<int> after{0};
    queue_.for_each_tile(10, [&](std::uint64_t, unsigned) { ++after; });
    EXPECT_EQ(after, 10);
  }
}

TEST_P(Executors, ABodyMayCallAgain) {
  std::atomic<int> inner{0};
  queue_.for_each_tile(
      8, [&](std::uint64_t, unsigned) { queue_.for_each_tile(5, [&](std::uint64_t, unsigned) { ++inner; }); });
  EXPECT_EQ(inner, 40);
}

TEST_P(Executors, CallersOnSeveralThreadsGetTheirOwnResults) {
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (unsigned caller = 0; caller < 4; ++caller)
    callers.emplace_back([&, caller] {
      for (int repetition = 0; repetition < 30; ++repetition) {
        std::atomic<std::uint64_t> sum{caller};
        queue_.for_each_tile(100, [&](std::uint64_t tile, unsigned) { sum += tile; });
        if (sum != caller + 4950) ++wrong;
      }
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(CpuDevice, TheDefaultOneIsMadeOnceAndOptionsMakeAnother) {
  EXPECT_EQ(&open("cpu").implementation(), &open("cpu").implementation());
  EXPECT_NE(&open("cpu").implementation(), &open("cpu", {.threads = 2}).implementation());
}

/// A device whose queue takes a while to be made.
class slow_device final : public backend::device {
 public:
  slow_device() : device(open("cpu:serial").info()) {}
  std::atomic<int> made{0};

 protected:
  std::unique_ptr<backend::queue> make_queue() override {
    ++made;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return std::make_unique<cpu::queue>(*this, make_executor("serial", 1), 1, best_instruction_set());
  }
};

TEST(Devices, HaveOneQueueHoweverManyThreadsAreTheFirst) {
  slow_device device;
  std::mutex mutex;
  std::set<backend::queue*> seen;
  std::vector<std::thread> users;
  for (int i = 0; i < 4; ++i)
    users.emplace_back([&] {
      backend::queue& own = device.queue();
      const std::lock_guard lock(mutex);
      seen.insert(&own);
    });
  for (std::thread& user : users) user.join();
  EXPECT_EQ(seen.size(), 1u);
  EXPECT_EQ(device.made, 1);
}

std::ptrdiff_t threads_of_process() {
  const std::filesystem::directory_iterator all("/proc/self/task");
  return std::distance(begin(all), end(all));
}

TEST(CpuDevice, OneThatNobodyHasAnyMoreHasNoThreads) {
  const std::vector<float> x(100'000, 1.0f);
  const auto use_another = [&] { (void)reduce(x, {.device = open("cpu:threads", {.threads = 5})}); };
  use_another();
  const std::ptrdiff_t before = threads_of_process();
  for (int i = 0; i < 3; ++i) use_another();
  // The system lists a thread for a moment after it has ended.
  for (int i = 0; i < 500 && threads_of_process() > before; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_LE(threads_of_process(), before);
}

/// Memory that a device kept for its next call is freed with the device. Each device has another size here, since the
/// next one may get the same address. Under the sanitizers, allocators do not report this.
TEST(CpuDevice, OneThatNobodyHasAnyMoreHasNoMemory) {
  constexpr std::size_t each = 1 << 20;
  const auto lent = [] {
    const auto facts = mallinfo2();
    return facts.uordblks + facts.hblkhd;
  };
  const std::size_t before = lent();
  for (std::size_t i = 0; i < 8; ++i) (void)open("cpu:serial", {.threads = 1}).allocate<float>(each + i * each / 4);
  EXPECT_LT(lent(), before + 3 * each * sizeof(float));
}

TEST(CpuDevice, UnknownExecutorsAndInstructionSetsAreNamed) {
  try {
    open("cpu:theads");
    FAIL();
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::device_lost);
    EXPECT_NE(std::string(e.what()).find("cpu:threads"), std::string::npos) << e.what();
  }
  EXPECT_THROW(open("cpu", {.instruction_set = "v9"}), error);
}

TEST(CpuDevice, WorkspaceIsReusedAndNeverSharedWhileInUse) {
  const tilewise::device device = open("cpu", {.threads = 2});
  backend::queue& queue = device.implementation().queue();
  void* first = nullptr;
  {
    const buffer a(queue, 100'000), b(queue, 100'000);
    EXPECT_NE(a.as<char>(), b.as<char>());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.as<char>()) % 256, 0u);
    first = b.as<void>();
  }
  const buffer again(queue, 100'000);
  const buffer more(queue, 100'000);
  EXPECT_TRUE(again.as<void>() == first || more.as<void>() == first);
}

TEST(CpuDevice, MoreMemoryThanTheMachineHasIsAnErrorThatNamesBoth) {
  try {
    open("cpu").allocate<float>(physical_memory());
    FAIL();
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::out_of_memory);
    EXPECT_NE(std::string(e.what()).find(std::to_string(physical_memory())), std::string::npos) << e.what();
  }
}

TEST(CpuDevice, ReleasingWrappedMemoryLeavesItAlone) {
  std::vector<float> mine(1000, 1.5f);
  const tilewise::device device = open("cpu", {.threads = 2});
  backend::queue& queue = device.implementation().queue();
  queue.release(queue.wrap(mine.data(), 4000));
  const buffer other(queue, 3800);
  EXPECT_NE(other.as<void>(), static_cast<void*>(mine.data()));
  EXPECT_EQ(mine[999], 1.5f);
}

}  // namespace
}  // namespace tilewise::backend::cpu
