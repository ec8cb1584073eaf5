// SPDX-License-Identifier: Apache-2.0
// What the OpenCL tests share: a device.
#pragma once

#include "backend/opencl/device.hpp"
#include "backend/opencl/error.hpp"
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

/// A context and a queue of OpenCL that the library did not make, as another program's.
struct foreign_queue {
  explicit foreign_queue(cl_command_queue_properties properties = 0) {
    cl_platform_id platform = nullptr;
    cl_int status = CL_SUCCESS;
    opencl::cl().clGetPlatformIDs(1, &platform, nullptr);
    opencl::cl().clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr);
    context = opencl::context_handle(opencl::cl().clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status));
    queue = opencl::queue_handle(opencl::cl().clCreateCommandQueue(context.get(), device, properties, &status));
  }
  opencl::mem_handle buffer(std::vector<float>& values) const {
    cl_int status = CL_SUCCESS;
    return opencl::mem_handle(opencl::cl().clCreateBuffer(context.get(), CL_MEM_COPY_HOST_PTR,
                                                          values.size() * sizeof(float), values.data(), &status));
  }
  cl_device_id device = nullptr;
  opencl::context_handle context;
  opencl::queue_handle queue;
};

}  // namespace tilewise::tests
