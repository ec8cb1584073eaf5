// SPDX-License-Identifier: Apache-2.0
// What the OpenCL tests share: a device.
#pragma once

#include "backend/opencl/opencl_device.hpp"
#include "helpers.hpp"

#include <tilewise/tilewise.hpp>

#include <gtest/gtest.h>

namespace tilewise::tests {

namespace opencl = backend::opencl;

/// The first OpenCL device, if there is one.
inline std::shared_ptr<backend::device> first_device() {
  std::string why_none;
  const auto all = opencl::devices(why_none);
  return all.empty() ? nullptr : all.front();
}

/// Tests on the first device; skipped if there is none.
class opencl_device_test : public testing::Test {
 protected:
  void SetUp() override {
    device = first_device();
    if (!device) GTEST_SKIP() << "no OpenCL device";
  }
  std::shared_ptr<backend::device> device;
};

}  // namespace tilewise::tests
