// SPDX-License-Identifier: Apache-2.0
// Requirements on the CUDA backend that can be tested without a GPU.
#include "backend/cuda/code.hpp"
#include "backend/cuda/device.hpp"
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

TEST(CudaRuntime, ADeviceRunsTheNewestCodeThatItKnows) {
  using backend::cuda::newest_code;
  EXPECT_EQ(newest_code({800, 900}, 90), 90u);
  EXPECT_EQ(newest_code({900, 800}, 89), 80u);
  EXPECT_EQ(newest_code({800}, 90), 80u) << "a build for older devices";
  EXPECT_EQ(newest_code({800, 1000}, 90), 80u) << "a build for older and for newer ones";
  EXPECT_EQ(newest_code({800, 900}, 120), 90u);
  EXPECT_EQ(newest_code({900}, 80), 0u);
}

}  // namespace
}  // namespace tilewise
