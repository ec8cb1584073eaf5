// SPDX-License-Identifier: Apache-2.0
// How much of its memory a device may use, and how much of the machine's memory the CPU's pool keeps.
#include "backend/memory_limit.hpp"
#include "backend/cpu/pool.hpp"
#include "cache_fixture.hpp"
#include "helpers.hpp"

#include <tilewise/error.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <fstream>
#include <thread>
#include <vector>

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

namespace tilewise::tests {
namespace {

constexpr std::uint64_t mib = 1 << 20;

TEST(MemoryLimit, IsANumberOfBytesAndNeverMoreThanThereIs) {
  const std::pair<const char*, std::uint64_t> good[] = {
      {"", 5 * mib},   {"512", 512},    {"3K", 3 << 10}, {"4M", 4 * mib},
      {"5M", 5 * mib}, {"6M", 5 * mib}, {"1G", 5 * mib}, {"17179869183G", 5 * mib}};
  for (const auto& [text, bytes] : good) {
    const environment_variable limit("TILEWISE_DEVICE_MEMORY", text);
    EXPECT_EQ(backend::limited_memory(5 * mib), bytes) << text;
  }
  for (const char* text : {"0", "0G", "M", "1T", "1KB", "1 K", "-1", " 1", "1.5M", "17179869184G",
                           "99999999999999999999", "off", "None"}) {
    const environment_variable limit("TILEWISE_DEVICE_MEMORY", text);
    EXPECT_THROW(backend::limited_memory(5 * mib), error) << text;
  }
}

std::uint64_t bytes_of_large_blocks() { return mallinfo2().hblkhd; }

TEST(CpuPool, AllTogetherKeepAnEighthOfTheMachineAtMost) {
  if (test_cover() == cover::few) GTEST_SKIP() << "sanitizers have allocators of their own";
  const std::uint64_t most = backend::cpu::physical_memory() / 8, before = bytes_of_large_blocks();
  for (const std::size_t used : {1, 2, 5})
    for (const std::uint64_t size : {most / 4, most * 2 / 3, most * 2}) {
      std::array<backend::cpu::pool, 5> pools;
      std::array<void*, 5> blocks{};
      for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i] = pools[i % used].take(size);  // not written to
      EXPECT_GT(bytes_of_large_blocks() - before, most);
      for (std::size_t i = 0; i < blocks.size(); ++i) pools[i % used].give(blocks[i]);
      EXPECT_LE(bytes_of_large_blocks() - before, most + mib) << used << " pools, blocks of " << size;
    }
  EXPECT_LE(bytes_of_large_blocks(), before + mib) << "of pools that are gone";
}

TEST(CpuPool, ThoseOfAllCpuDevicesKeepItTogether) {
  if (test_cover() == cover::few) GTEST_SKIP() << "sanitizers have allocators of their own";
  const std::uint64_t most = backend::cpu::physical_memory() / 8, before = bytes_of_large_blocks();
  for (const device& d :
       {open("cpu:serial"), open("cpu:threads"), open("cpu", {.threads = 2}), open("cpu", {.threads = 3})}) {
    backend::queue& queue = d.implementation().queue();
    queue.release(queue.allocate(most / 2));
    EXPECT_LE(bytes_of_large_blocks() - before, most + mib) << d.info().name;
  }
}

TEST(CpuPool, KeepsWhatWasGivenLastThoughOthersHadKeptAll) {
  if (test_cover() == cover::few) GTEST_SKIP() << "sanitizers have allocators of their own";
  const std::uint64_t size = backend::cpu::physical_memory() / 10;
  backend::cpu::pool first, second;
  first.give(first.take(size));
  const auto take = [&] { return static_cast<char*>(second.take(size)); };
  char* block = take();
  block[backend::cpu::pool::header_bytes] = 1;
  second.give(block);
  block = take();
  EXPECT_EQ(block[backend::cpu::pool::header_bytes], 1) << "what comes from the system is zero";
  second.give(block);
}

TEST(CpuPool, GivesUpWhatAnyKeepsBeforeOneIsWithoutMemory) {
  if (test_cover() == cover::few) GTEST_SKIP() << "sanitizers have allocators of their own";
  const std::vector<std::uint64_t> one{512}, alike{128, 128, 128, 128}, unlike{100, 200, 212};  // MiB
  for (const auto& [by_another, sizes] : {std::pair(false, one), {true, one}, {false, alike}, {true, unlike}}) {
    backend::cpu::pool pool, other;
    backend::cpu::pool& before_it = by_another ? other : pool;
    std::vector<void*> kept;
    for (const std::uint64_t size : sizes) kept.push_back(before_it.take(size * mib));
    for (void* block : kept) before_it.give(block);
    std::uint64_t pages = 0;
    ASSERT_TRUE(std::ifstream("/proc/self/statm") >> pages);
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
    const rlim_t used = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    // Too little for another block beside the first, although the allocator reserves 64 MiB more after a failure.
    const rlimit limit{std::min<rlim_t>(used + 192 * mib, before.rlim_cur), before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
    void* block = nullptr;
    EXPECT_NO_THROW(block = pool.take(600 * mib)) << by_another << ", " << sizes.size() << " blocks";
    setrlimit(RLIMIT_AS, &before);
    if (block != nullptr) pool.give(block);
  }
}

/// Threads have a pool each, and there is a common one.
TEST(CpuPool, ThreadsNeverShareABlock) {
  const std::uint64_t size = test_cover() == cover::few ? mib : backend::cpu::physical_memory() / 8 / 3;
  backend::cpu::pool of_all;
  std::atomic<int> shared{0};
  const auto use = [&](int thread) {
    backend::cpu::pool own;
    for (int i = 0; i < 40; ++i) {
      backend::cpu::pool& pool = i % 2 == 0 ? own : of_all;
      void* const block = pool.take(size);
      auto* const mark =
          reinterpret_cast<std::atomic<int>*>(static_cast<char*>(block) + backend::cpu::pool::header_bytes);
      mark->store(thread);
      std::this_thread::yield();
      shared += mark->load() != thread;
      pool.give(block);
    }
  };
  std::vector<std::jthread> threads;
  for (int i = 1; i <= 4; ++i) threads.emplace_back(use, i);
  threads.clear();
  EXPECT_EQ(shared, 0);
}

}  // namespace
}  // namespace tilewise::tests
