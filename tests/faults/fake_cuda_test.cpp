// SPDX-License-Identifier: Apache-2.0
// Requirements on two GPUs when CUDA calls fail, tested with a runtime that has two devices without a GPU
// (fake_cuda.cpp).
#include "backend/cuda/queue.hpp"
#include "cache_fixture.hpp"
#include "failing_cuda.hpp"
#include "helpers.hpp"

#include <tilewise/tilewise.hpp>

#include <gtest/gtest.h>

namespace tilewise {
namespace {

/// A queue that stayed on the other stream would run beside the work that it must follow, and free memory too early.
TEST(FakeCuda, AQueueIsOnItsStreamAfterACopyBetweenGpusHasFailed) {
  const std::vector<float> x = tests::wide_floats(1000);
  const std::uint64_t bytes = x.size() * sizeof(float);
  long faults = 0;
  for (const tests::source& fault : tests::cuda_calls())
    for (long k = 0;; ++k) {
      const device here = open("cuda:0"), there = open("cuda:1");  // new devices, whose other stream does not exist yet
      backend::cuda::queue &q = backend::cuda::enter(here.implementation().queue()),
                           &other = backend::cuda::enter(there.implementation().queue());
      const backend::buffer from(other, bytes), to(q, bytes);
      other.upload(from, x.data(), bytes);
      const auto copy_beside = [&] { q.follow(q, q.beside([&] { q.copy(to, from, bytes); })); };
      const cudaStream_t stream = q.stream();

      bool has_thrown = false;
      fault.arm(k);
      try {
        copy_beside();
      } catch (const error&) {
        has_thrown = true;
      }
      if (!fault.disarm()) break;
      ++faults;
      EXPECT_TRUE(has_thrown) << fault.name << ", call " << k;
      EXPECT_EQ(q.stream(), stream) << fault.name << ", call " << k;
      copy_beside();
      EXPECT_EQ(q.stream(), stream) << fault.name << ", call " << k;
      std::vector<float> arrived(x.size());
      q.download(arrived.data(), to, bytes);
      tests::expect_bits(arrived, x, fault.name);
    }
  EXPECT_GT(faults, 5);
}

/// Kernels number their calls in 32 bits; the test leaves only few numbers. Here the test acts as the kernel: its call
/// has the number after the counter's, and no word of an earlier call may have that.
TEST(FakeCuda, NoWordThatLastsHasANumberThatIsYetToBeGiven) {
  constexpr std::uint64_t few = 64, many = 1000;
  constexpr std::uint32_t most_calls = 5;
  const device gpu = open("cuda:0");
  backend::cuda::queue& q = backend::cuda::enter(gpu.implementation().queue());
  for (std::uint64_t call = 0; call < 40; ++call) {
    const std::uint64_t count = call < 20 ? few : many;
    const std::span<std::uint64_t> words(q.lasting(count, most_calls), count);  // the host's memory
    const std::uint64_t number = words[0] + 1;
    EXPECT_EQ(number, call % most_calls + 1);
    EXPECT_EQ(std::count(words.begin() + 1, words.end(), number), 0) << "call " << call;
    words[0] = words[1 + call % (count - 1)] = number;
  }
}

/// Memory counts as free if the device returns it to the driver to allocate other sizes, or if the driver refused it.
TEST(FakeCuda, ADeviceHasAllItsMemoryAgainWhateverFailed) {
  const tests::environment_variable limit("TILEWISE_DEVICE_MEMORY", "16M");
  const device gpu = open("cuda:0");
  const std::uint64_t all = gpu.info().memory / sizeof(float);
  std::vector<tests::source> faults = tests::cuda_calls();
  for (tests::source& fault : tests::cuda_memory()) faults.push_back(std::move(fault));
  long failed = 0;
  for (const tests::source& fault : faults)
    for (long k = 0;; ++k, ++failed) {
      fault.arm(k);
      try {
        gpu.allocate<float>(all / 2);
        gpu.allocate<float>(all / 4 * 3);
      } catch (const error&) {
      }
      if (!fault.disarm()) break;
      EXPECT_NO_THROW(gpu.allocate<float>(all / 8 * 7)) << fault.name << ", call " << k;
    }
  EXPECT_GT(failed, 5);
}

/// A kernel's limit of shared memory is common to all threads, so a launch that set its own could lower another
/// thread's. The test's runtime refuses to change a limit.
TEST(FakeCuda, LaunchesThatNeedDifferentSharedMemoryLeaveTheKernelsLimit) {
  const device gpu = open("cuda:0"), both = open("cuda:*");
  const std::vector<float> x(200'000, 1.0f);
  for (const std::uint64_t n : {100, 700})
    EXPECT_NO_THROW(polymul(std::span(x).first(n), std::span(x).first(n), {.device = gpu, .variant = "local"})) << n;
  const std::vector<std::int64_t> words(40'000, 1);
  for (const std::int64_t modulus : {std::int64_t{7}, std::int64_t{1} << 62})
    EXPECT_NO_THROW(polymul(words, words, {.modulus = modulus, .device = both, .variant = "ntt"})) << modulus;
  for (const std::uint64_t side : {21, 33})
    EXPECT_NO_THROW(
        convolve(x, {500, 400}, std::span(x).first(side * side), {side, side}, {.device = gpu, .variant = "packs"}))
        << side;
  for (const std::uint64_t side : {100, 400})
    for (const std::uint64_t steps : {1, 99})
      EXPECT_NO_THROW(diffuse(std::span(x).first(side * side), {.rows = side, .columns = side, .steps = steps},
                              {.device = gpu, .variant = "resident"}))
          << side << ", " << steps;
}

/// The fake has compute capability 9.0. Whether a driver can make tensor maps depends on the machine.
TEST(FakeCuda, WhatWarpgroupsCannotMultiplyIsSaidAndOtherTilesTake) {
  const registry::variant& v = registry::find_variant("matmul/cuda:tf32");
  const device gpu = open("cuda:0");
  struct form {
    registry::extents shape;
    const char* why;
  };
  constexpr std::uint64_t far = std::uint64_t{1} << 31;
  for (const auto& [shape, why] : {form{{2048, 2048, 0, 4, 2048, 2048}, "K is 0"},
                                   {{1, 4, 4, far, 4, 4}, "2^31"},
                                   {{2048, 2048, 2048, 2049, 2050, 2049}, "driver"}}) {
    const registry::problem p{.what = &registry::find_algorithm("matmul"), .type = dtype::f32, .shape = shape};
    const auto reason = [&](std::string_view tile) {
      return v.unsupported(p, gpu.implementation(), registry::parse_tuning("tile=" + std::string(tile), v.tuning));
    };
    for (const char* word : {"32x64", "256x128"}) {
      const std::string told = reason(word);
      EXPECT_TRUE(told.find(why) != std::string::npos || (std::string_view(why) == "driver" && told.empty()) ||
                  told.find("this build") != std::string::npos)
          << word << ", " << why << ": " << told;
    }
    EXPECT_EQ(reason("by_size"), "") << why;
  }
  const std::vector<float> a(2048 * 2048, 1.0f);
  const matrix_layout square(2048, 2048);
  EXPECT_NO_THROW(matmul(gpu.upload(a), square, gpu.upload(a), square, {.fast = true}));
}

}  // namespace
}  // namespace tilewise
