// SPDX-License-Identifier: Apache-2.0
// The OpenCL entry points that we use. They are looked up at run time, so that a binary with OpenCL also runs without a
// driver.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <string>

// All entry points that the backend calls.
#define TILEWISE_OPENCL_CALLS(X) \
  X(clGetPlatformIDs)            \
  X(clGetPlatformInfo)           \
  X(clGetDeviceIDs)              \
  X(clGetDeviceInfo)             \
  X(clCreateContext)             \
  X(clReleaseContext)            \
  X(clCreateCommandQueue)        \
  X(clRetainCommandQueue)        \
  X(clReleaseCommandQueue)       \
  X(clGetCommandQueueInfo)       \
  X(clRetainContext)             \
  X(clCreateBuffer)              \
  X(clReleaseMemObject)          \
  X(clGetMemObjectInfo)          \
  X(clCreateProgramWithSource)   \
  X(clCreateProgramWithBinary)   \
  X(clBuildProgram)              \
  X(clGetProgramInfo)            \
  X(clGetProgramBuildInfo)       \
  X(clReleaseProgram)            \
  X(clCreateKernel)              \
  X(clSetKernelArg)              \
  X(clReleaseKernel)             \
  X(clEnqueueNDRangeKernel)      \
  X(clEnqueueReadBuffer)         \
  X(clEnqueueWriteBuffer)        \
  X(clEnqueueCopyBuffer)         \
  X(clEnqueueMapBuffer)          \
  X(clEnqueueUnmapMemObject)     \
  X(clEnqueueMarkerWithWaitList) \
  X(clWaitForEvents)             \
  X(clFlush)                     \
  X(clFinish)                    \
  X(clGetEventProfilingInfo)     \
  X(clReleaseEvent)

namespace tilewise::backend::opencl {

struct api {
#define TILEWISE_MEMBER(name) decltype(&::name) name = nullptr;
  TILEWISE_OPENCL_CALLS(TILEWISE_MEMBER)
#undef TILEWISE_MEMBER
};

/// The entry points of libOpenCL.so.1, or of the file that TILEWISE_OPENCL_LIBRARY names; loaded once. If it cannot be
/// loaded, returns nullptr and `why_none` is a sentence that says why.
const api* find_api(std::string& why_none);

/// The same for code that already has an OpenCL object, so that the library must be loaded. Throws `device_lost`.
const api& cl();

}  // namespace tilewise::backend::opencl
