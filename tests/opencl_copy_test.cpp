// SPDX-License-Identifier: Apache-2.0
// Copies within an OpenCL device. Only GPUs copy by a kernel, so CMakeLists.txt has this file's tests take PoCL for
// one.
#include "backend/opencl/opencl_queue.hpp"
#include "opencl_fixture.hpp"

#include <numeric>

namespace tilewise::tests {
namespace {

using OpenclCopy = opencl_device_test;

TEST_F(OpenclCopy, MovesEveryByteAndNoOther) {
  backend::queue& queue = device->queue();
  constexpr std::uint64_t room = (1 << 20) + 4096;
  std::vector<std::uint8_t> from(room), expected(room), got(room);
  std::iota(from.begin(), from.end(), std::uint8_t{1});
  const backend::buffer source(queue, room), target(queue, room);
  queue.upload(source, from.data(), room);
  for (const std::uint64_t bytes : {0, 1, 16, 48, 16383, 16384, 16400, 1 << 20})
    for (const auto& [begin, to] : {std::pair(0, 0), {16, 0}, {32, 48}, {5, 16}, {16, 3}}) {
      std::fill(expected.begin(), expected.end(), std::uint8_t{0});
      queue.upload(target, expected.data(), room);
      queue.copy(backend::memory(target).at(to, bytes), backend::memory(source).at(begin, bytes), bytes);
      queue.download(got.data(), target, room);
      std::copy_n(from.begin() + begin, bytes, expected.begin() + to);
      EXPECT_EQ(got, expected) << bytes << " bytes from " << begin << " to " << to;
    }
}

}  // namespace
}  // namespace tilewise::tests
