// SPDX-License-Identifier: Apache-2.0
// The OpenCL entry points that we use, looked up at run time: a binary with OpenCL runs without a driver too.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <string>

// Every entry point of the backend; nothing else of libOpenCL is called.
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

/// The table of libOpenCL.so.1, or of the file that TILEWISE_OPENCL_LIBRARY names; loaded once. nullptr, with the
/// reason in a sentence, if there is none.
const api* find_api(std::string& why_none);

/// The same for code that already holds an OpenCL object. Throws `device_lost`.
const api& cl();

}  // namespace tilewise::backend::opencl
