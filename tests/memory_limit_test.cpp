// SPDX-License-Identifier: Apache-2.0
// What a device may use of its memory, and what the CPU's pool keeps of the machine's.
#include "backend/memory_limit.hpp"
#include "backend/cpu/cpu_pool.hpp"
#include "cache_fixture.hpp"
#include "helpers.hpp"

#include <tilewise/error.hpp>

#include <gtest/gtest.h>

#include <array>
#include <fstream>

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
  for (const char* text :
       {"0", "0G", "M", "1T", "1KB", "1 K", "-1", " 1", "1.5M", "17179869184G", "99999999999999999999"}) {
    const environment_variable limit("TILEWISE_DEVICE_MEMORY", text);
    EXPECT_THROW(backend::limited_memory(5 * mib), error) << text;
  }
}

std::uint64_t bytes_of_large_blocks() { return mallinfo2().hblkhd; }

TEST(CpuPool, KeepsAnEighthOfTheMachineAtMost) {
  if (test_cover() == cover::few) GTEST_SKIP() << "sanitizers have allocators of their own";
  const std::uint64_t most = backend::cpu::physical_memory() / 8, before = bytes_of_large_blocks();
  backend::cpu::pool pool;
  std::array<void*, 3> blocks{};
  for (void*& block : blocks) block = pool.take(most * 2 / 3);  // of which only the first pages are written
  EXPECT_GT(bytes_of_large_blocks() - before, most);
  for (void* const block : blocks) pool.give(block);
  EXPECT_LE(bytes_of_large_blocks() - before, most + mib);
}

TEST(CpuPool, GivesUpWhatItKeepsBeforeItIsWithoutMemory) {
  if (test_cover() == cover::few) GTEST_SKIP() << "sanitizers have allocators of their own";
  backend::cpu::pool pool;
  pool.give(pool.take(512 * mib));
  std::uint64_t pages = 0;
  ASSERT_TRUE(std::ifstream("/proc/self/statm") >> pages);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  const rlim_t used = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  // Too few for another block beside the first, though the allocator reserves 64 MiB more once it has failed.
  const rlimit limit{std::min<rlim_t>(used + 192 * mib, before.rlim_cur), before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
  void* block = nullptr;
  EXPECT_NO_THROW(block = pool.take(600 * mib));
  setrlimit(RLIMIT_AS, &before);
  if (block != nullptr) pool.give(block);
}

}  // namespace
}  // namespace tilewise::tests
