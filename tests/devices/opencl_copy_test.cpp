// SPDX-License-Identifier: Apache-2.0
// Copies within an OpenCL device. Only GPUs copy by a kernel, so for this file's tests PoCL claims to be one
// (CMakeLists.txt).
#include "backend/opencl/queue.hpp"
#include "opencl_fixture.hpp"

#include <array>
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

/// Copies few rows and many, at addresses where copy units begin and at others.
TEST_F(OpenclCopy, MovesRowsAndNothingBetweenThem) {
  backend::queue& queue = device->queue();
  constexpr std::uint64_t room = 1 << 16;
  std::vector<std::uint8_t> from(room), expected(room), got(room);
  std::iota(from.begin(), from.end(), std::uint8_t{1});
  const backend::buffer source(queue, room), target(queue, room);
  queue.upload(source, from.data(), room);
  for (const std::uint64_t rows : {1, 2, 17, 400})
    for (const auto& [width, from_stride, to_stride] :
         {std::array<std::uint64_t, 3>{4, 4, 64}, {12, 64, 12}, {16, 100, 52}, {64, 64, 64}, {7, 9, 11}, {8, 9, 12}})
      for (const std::uint64_t begin : {0, 4, 20, 3}) {
        std::fill(expected.begin(), expected.end(), std::uint8_t{0});
        queue.upload(target, expected.data(), room);
        queue.copy_rows(backend::memory(target).at(8, 0), to_stride, backend::memory(source).at(begin, 0), from_stride,
                        width, rows);
        queue.download(got.data(), target, room);
        for (std::uint64_t i = 0; i < rows; ++i)
          std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(begin + i * from_stride), width,
                      expected.begin() + static_cast<std::ptrdiff_t>(8 + i * to_stride));
        EXPECT_EQ(got, expected) << rows << " rows of " << width << " bytes from " << begin << ", " << from_stride
                                 << " apart, to " << to_stride;
      }
}

}  // namespace
}  // namespace tilewise::tests
