// SPDX-License-Identifier: Apache-2.0
// What two GPUs must satisfy when CUDA fails, on the runtime that has two devices without a GPU (fake_cuda.cpp).
#include "backend/cuda/cuda_queue.hpp"
#include "failing_cuda.hpp"
#include "helpers.hpp"

#include <tilewise/tilewise.hpp>

#include <gtest/gtest.h>

namespace tilewise {
namespace {

/// A queue that stays on the other stream works on beside what it should follow, and frees memory before its use.
TEST(FakeCuda, AQueueIsOnItsStreamAfterACopyBetweenGpusHasFailed) {
  const std::vector<float> x = tests::wide_floats(1000);
  const std::uint64_t bytes = x.size() * sizeof(float);
  long faults = 0;
  for (const tests::source& fault : tests::cuda_calls(true))
    for (long k = 0;; ++k) {
      const device here = open("cuda:0"), there = open("cuda:1");  // new ones, whose other stream is yet to be made
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

}  // namespace
}  // namespace tilewise
