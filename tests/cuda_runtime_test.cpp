// SPDX-License-Identifier: Apache-2.0
// What the CUDA runtime must satisfy on a machine without a GPU, too.
#include "backend/cuda/cuda_device.hpp"
#include "helpers.hpp"

#include <tilewise/tilewise.hpp>

#include <gtest/gtest.h>

namespace tilewise {
namespace {

using tests::code_of;

TEST(CudaRuntime, AMachineWithoutADeviceSaysWhyInASentence) {
  std::string why_none;
  const bool none = backend::cuda::devices(why_none).empty();
  EXPECT_EQ(none, !why_none.empty());
  EXPECT_TRUE(why_none.empty() || why_none.back() == '.') << why_none;
}

TEST(CudaRuntime, ADeviceThatIsNotThereIsLost) {
  EXPECT_EQ(code_of([] { open("cuda:99"); }), errc::device_lost);
  EXPECT_EQ(code_of([] { from_cuda_stream(99, nullptr); }), errc::device_lost);
  EXPECT_EQ(code_of([] { from_cuda_stream(-1, nullptr); }), errc::device_lost);
}

}  // namespace
}  // namespace tilewise
