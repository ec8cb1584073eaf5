// SPDX-License-Identifier: Apache-2.0
// A driver for tests: passes every call on to the real loader, except that FAKE_OPENCL="<call>=<what>" makes one
// call return an error code (a number), crash ("raise11": by that signal), hang ("hang100": after 100 of them; where
// there is FAKE_OPENCL_ONCE, once the file of that name has something in it), take long ("slow12": so many seconds,
// in which it computes now and then, as on a busy machine) or make a folder in its cache again and again without an
// end ("write"). FAKE_OPENCL_TYPE="gpu" makes every device call itself a GPU, FAKE_OPENCL_ALLOCATION is the most
// bytes that it says it allocates at once, FAKE_OPENCL_LIMITS="64 16384" has it take groups of so many items and so
// many bytes of local memory at most, and no doubles, and FAKE_OPENCL_PLATFORM, _NAME, _DRIVER and _VERSION are what
// platforms and devices say of themselves. TILEWISE_OPENCL_LIBRARY names this file to the library. Programs may tell
// it more by the control of failing_calls.hpp.
#include "failing_calls.hpp"

#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string>

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED tilewise::tests::failing_calls fake_opencl_control;
tilewise::tests::failing_calls fake_opencl_control;

namespace {

bool has_begun() {
  const char* const file = std::getenv("FAKE_OPENCL_ONCE");
  struct stat facts {};
  return file == nullptr || (stat(file, &facts) == 0 && facts.st_size > 0);
}

void take_seconds(int count) {
  for (int half = 0; half < 2 * count; ++half) {
    usleep(500'000);
    for (const std::clock_t begun = std::clock(); std::clock() - begun < CLOCKS_PER_SEC / 50;) continue;
  }
}

/// The error that this call is to return, 0 for none.
cl_int fault(const char* call) {
  if (fake_opencl_control.call != nullptr) return fake_opencl_control.fault(call);
  const char* wanted = std::getenv("FAKE_OPENCL");
  const std::size_t length = std::strlen(call);
  if (wanted == nullptr || std::strncmp(wanted, call, length) != 0 || wanted[length] != '=') return 0;
  const char* what = wanted + length + 1;
  if (std::strcmp(what, "crash") == 0) std::abort();
  for (int again = 0; again < 2; ++again)  // as a fault is met again where a compiler's handler returns
    if (std::strncmp(what, "raise", 5) == 0) std::raise(std::atoi(what + 5));
  if (std::strncmp(what, "slow", 4) == 0) take_seconds(std::atoi(what + 4));
  static long calls = 0;
  const bool hangs =
      std::strncmp(what, "hang", 4) == 0 && has_begun() && ++calls > std::atol(what + std::strlen("hang"));
  if (hangs) std::fprintf(stderr, "%s hangs\n", call);  // for tests that wait until it does
  while (hangs) sleep(1);
  while (std::strcmp(what, "write") == 0) {
    std::error_code ignored;
    std::filesystem::create_directories(std::getenv("POCL_CACHE_DIR") + std::string("/AB"), ignored);
  }
  return std::atoi(what);
}

void* real(const char* call) {
  static void* const loader = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  return dlsym(loader, call);
}

#define PASS_ON(name, arguments) reinterpret_cast<decltype(&::name)>(real(#name)) arguments

/// A kernel whose argument was not taken keeps another one's: nothing may be launched with it until that is set.
struct {
  std::atomic<cl_kernel> kernel{nullptr};
  std::atomic<cl_uint> argument{0};
} lacking;

/// What a device says of itself instead of the driver's text; null for that.
const char* text_of_device(cl_device_info what) {
  switch (what) {
    case CL_DEVICE_NAME: return std::getenv("FAKE_OPENCL_NAME");
    case CL_DRIVER_VERSION: return std::getenv("FAKE_OPENCL_DRIVER");
    case CL_DEVICE_VERSION: return std::getenv("FAKE_OPENCL_VERSION");
    default: return nullptr;
  }
}

/// What FAKE_OPENCL_LIMITS says; PoCL's own device has more of both.
struct limits {
  unsigned long items = ~0ul, local_bytes = ~0ul;

  limits() {
    if (const char* const text = std::getenv("FAKE_OPENCL_LIMITS")) std::sscanf(text, "%lu %lu", &items, &local_bytes);
  }
  bool are_told() const { return items != ~0ul; }
};

/// What a device with the limits says to a launch; 0 where it takes it.
cl_int refusal(const limits& most, cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
               const std::size_t* local) {
  unsigned long items = 1;
  for (cl_uint i = 0; i < dimensions; ++i) items *= local[i];
  if (items > most.items) return CL_INVALID_WORK_GROUP_SIZE;
  cl_device_id device = nullptr;
  cl_ulong bytes = 0;
  PASS_ON(clGetCommandQueueInfo, (queue, CL_QUEUE_DEVICE, sizeof device, &device, nullptr));
  PASS_ON(clGetKernelWorkGroupInfo, (kernel, device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof bytes, &bytes, nullptr));
  return bytes > most.local_bytes ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

cl_int answer(const char* text, std::size_t room, void* to, std::size_t* needed) {
  if (needed != nullptr) *needed = std::strlen(text) + 1;
  if (to != nullptr) std::strncpy(static_cast<char*>(to), text, room);
  return CL_SUCCESS;
}

}  // namespace

#define CALL(name, parameters, arguments)                  \
  EXPORTED cl_int name parameters {                        \
    if (const cl_int status = fault(#name)) return status; \
    return PASS_ON(name, arguments);                       \
  }

#define CALL_WITH_EVENT(name, parameters, arguments, event)      \
  EXPORTED cl_int name parameters {                              \
    if (const cl_int status = fault(#name)) return status;       \
    const cl_int status = PASS_ON(name, arguments);              \
    fake_opencl_control.live += status == 0 && event != nullptr; \
    return status;                                               \
  }

// A release that reports an error has still released: otherwise the driver would leak, not its user.
#define RELEASE(name, object)               \
  EXPORTED cl_int name(object a) {          \
    const cl_int status = fault(#name);     \
    const cl_int done = PASS_ON(name, (a)); \
    fake_opencl_control.live -= done == 0;  \
    return status != 0 ? status : done;     \
  }

#define RETAIN(name, object)                               \
  EXPORTED cl_int name(object a) {                         \
    if (const cl_int status = fault(#name)) return status; \
    const cl_int done = PASS_ON(name, (a));                \
    fake_opencl_control.live += done == 0;                 \
    return done;                                           \
  }

#define CREATE(type, name, parameters, arguments)                        \
  EXPORTED type name parameters {                                        \
    if (const cl_int status = fault(#name)) return *e = status, nullptr; \
    const type made = PASS_ON(name, arguments);                          \
    fake_opencl_control.live += made != nullptr;                         \
    return made;                                                         \
  }

#define INFO(name, object, kind) CALL(name, (object a, kind b, std::size_t c, void* d, std::size_t* e), (a, b, c, d, e))

CALL(clGetPlatformIDs, (cl_uint a, cl_platform_id* b, cl_uint* c), (a, b, c))
CALL(clGetDeviceIDs, (cl_platform_id a, cl_device_type b, cl_uint c, cl_device_id* d, cl_uint* e), (a, b, c, d, e))
EXPORTED cl_int clGetPlatformInfo(cl_platform_id a, cl_platform_info b, std::size_t c, void* d, std::size_t* e) {
  if (const cl_int status = fault("clGetPlatformInfo")) return status;
  const char* name = b == CL_PLATFORM_NAME ? std::getenv("FAKE_OPENCL_PLATFORM") : nullptr;
  return name == nullptr ? PASS_ON(clGetPlatformInfo, (a, b, c, d, e)) : answer(name, c, d, e);
}
EXPORTED cl_int clGetDeviceInfo(cl_device_id a, cl_device_info b, std::size_t c, void* d, std::size_t* e) {
  if (const cl_int status = fault("clGetDeviceInfo")) return status;
  if (const char* const text = text_of_device(b)) return answer(text, c, d, e);
  const cl_int status = PASS_ON(clGetDeviceInfo, (a, b, c, d, e));
  if (b == CL_DEVICE_TYPE && d != nullptr && std::getenv("FAKE_OPENCL_TYPE") != nullptr)
    *static_cast<cl_device_type*>(d) = CL_DEVICE_TYPE_GPU;
  if (const char* const most = std::getenv("FAKE_OPENCL_ALLOCATION"); b == CL_DEVICE_MAX_MEM_ALLOC_SIZE && d && most)
    *static_cast<cl_ulong*>(d) = std::strtoull(most, nullptr, 10);
  if (const limits most; most.are_told() && d != nullptr) {
    if (b == CL_DEVICE_MAX_WORK_GROUP_SIZE) *static_cast<std::size_t*>(d) = most.items;
    if (b == CL_DEVICE_LOCAL_MEM_SIZE) *static_cast<cl_ulong*>(d) = most.local_bytes;
    if (b == CL_DEVICE_DOUBLE_FP_CONFIG) *static_cast<cl_device_fp_config*>(d) = 0;
  }
  return status;
}
INFO(clGetCommandQueueInfo, cl_command_queue, cl_command_queue_info)
INFO(clGetMemObjectInfo, cl_mem, cl_mem_info)
INFO(clGetProgramInfo, cl_program, cl_program_info)
INFO(clGetEventProfilingInfo, cl_event, cl_profiling_info)
CALL(clGetProgramBuildInfo,
     (cl_program a, cl_device_id b, cl_program_build_info c, std::size_t d, void* f, std::size_t* g),
     (a, b, c, d, f, g))
RELEASE(clReleaseContext, cl_context)
RETAIN(clRetainContext, cl_context)
RELEASE(clReleaseCommandQueue, cl_command_queue)
RETAIN(clRetainCommandQueue, cl_command_queue)
RELEASE(clReleaseMemObject, cl_mem)
RELEASE(clReleaseProgram, cl_program)
RELEASE(clReleaseKernel, cl_kernel)
RELEASE(clReleaseEvent, cl_event)
CALL(clFinish, (cl_command_queue a), (a))
CALL(clFlush, (cl_command_queue a), (a))
CALL(clWaitForEvents, (cl_uint a, const cl_event* b), (a, b))
EXPORTED cl_int clSetKernelArg(cl_kernel a, cl_uint b, std::size_t c, const void* d) {
  if (const cl_int status = fault("clSetKernelArg")) return lacking.argument = b, lacking.kernel = a, status;
  if (a == lacking.kernel && b == lacking.argument) lacking.kernel = nullptr;
  return PASS_ON(clSetKernelArg, (a, b, c, d));
}
CALL(clBuildProgram,
     (cl_program a, cl_uint b, const cl_device_id* c, const char* d, void(CL_CALLBACK* f)(cl_program, void*), void* g),
     (a, b, c, d, f, g))
EXPORTED cl_int clEnqueueNDRangeKernel(cl_command_queue a, cl_kernel b, cl_uint c, const std::size_t* d,
                                       const std::size_t* f, const std::size_t* g, cl_uint h, const cl_event* i,
                                       cl_event* j) {
  if (const cl_int status = fault("clEnqueueNDRangeKernel")) return status;
  fake_opencl_control.unchecked += lacking.kernel == b;
  if (const limits most; most.are_told())
    if (const cl_int status = refusal(most, a, b, c, g)) return status;
  const cl_int status = PASS_ON(clEnqueueNDRangeKernel, (a, b, c, d, f, g, h, i, j));
  fake_opencl_control.live += status == 0 && j != nullptr;
  return status;
}
CALL_WITH_EVENT(clEnqueueReadBuffer,
                (cl_command_queue a, cl_mem b, cl_bool c, std::size_t d, std::size_t f, void* g, cl_uint h,
                 const cl_event* i, cl_event* j),
                (a, b, c, d, f, g, h, i, j), j)
CALL_WITH_EVENT(clEnqueueWriteBuffer,
                (cl_command_queue a, cl_mem b, cl_bool c, std::size_t d, std::size_t f, const void* g, cl_uint h,
                 const cl_event* i, cl_event* j),
                (a, b, c, d, f, g, h, i, j), j)
CALL_WITH_EVENT(clEnqueueCopyBuffer,
                (cl_command_queue a, cl_mem b, cl_mem c, std::size_t d, std::size_t f, std::size_t g, cl_uint h,
                 const cl_event* i, cl_event* j),
                (a, b, c, d, f, g, h, i, j), j)
CALL_WITH_EVENT(clEnqueueUnmapMemObject,
                (cl_command_queue a, cl_mem b, void* c, cl_uint d, const cl_event* f, cl_event* g), (a, b, c, d, f, g),
                g)
CALL_WITH_EVENT(clEnqueueMarkerWithWaitList, (cl_command_queue a, cl_uint b, const cl_event* c, cl_event* d),
                (a, b, c, d), d)
CREATE(cl_context, clCreateContext,
       (const cl_context_properties* a, cl_uint b, const cl_device_id* c,
        void(CL_CALLBACK* d)(const char*, const void*, std::size_t, void*), void* f, cl_int* e),
       (a, b, c, d, f, e))
CREATE(cl_command_queue, clCreateCommandQueue, (cl_context a, cl_device_id b, cl_command_queue_properties c, cl_int* e),
       (a, b, c, e))
CREATE(cl_mem, clCreateBuffer, (cl_context a, cl_mem_flags b, std::size_t c, void* d, cl_int* e), (a, b, c, d, e))
EXPORTED void* clEnqueueMapBuffer(cl_command_queue a, cl_mem b, cl_bool c, cl_map_flags d, std::size_t f, std::size_t g,
                                  cl_uint h, const cl_event* i, cl_event* j, cl_int* e) {
  if (const cl_int status = fault("clEnqueueMapBuffer")) return *e = status, nullptr;
  void* const made = PASS_ON(clEnqueueMapBuffer, (a, b, c, d, f, g, h, i, j, e));
  fake_opencl_control.live += made != nullptr && j != nullptr;
  return made;
}
CREATE(cl_program, clCreateProgramWithSource,
       (cl_context a, cl_uint b, const char** c, const std::size_t* d, cl_int* e), (a, b, c, d, e))
CREATE(cl_program, clCreateProgramWithBinary,
       (cl_context a, cl_uint b, const cl_device_id* c, const std::size_t* d, const unsigned char** f, cl_int* g,
        cl_int* e),
       (a, b, c, d, f, g, e))
CREATE(cl_kernel, clCreateKernel, (cl_program a, const char* b, cl_int* e), (a, b, e))
