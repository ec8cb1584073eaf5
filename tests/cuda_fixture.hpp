// SPDX-License-Identifier: Apache-2.0
// What the CUDA tests share: a GPU, or the reason why there is none.
#pragma once

#include "backend/cuda/device.hpp"

#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace tilewise::tests {

/// Tests on the first GPU. They are skipped, with the reason, if there is none.
class cuda_device_test : public testing::Test {
 protected:
  void SetUp() override {
    std::string why_none;
    if (backend::cuda::devices(why_none).empty()) GTEST_SKIP() << why_none;
    device_ = backend::find_device("cuda:0", {});
  }
  std::shared_ptr<backend::device> device_;
};

}  // namespace tilewise::tests
