// SPDX-License-Identifier: Apache-2.0
// An OpenCL driver that can do nothing but be listed. TILEWISE_LISTS is the type of its only device; without it, the
// driver crashes as soon as it is queried, or with TILEWISE_HANGS never answers, nor does what it starts, which
// SIGTERM does not end; with FAKE_DRIVER_LEAVES it ends itself, and leaves that behind.
// FAKE_DRIVER_CRASHES makes any of them crash, and the file that FAKE_DRIVER_LOG names gets a line each time that a
// process loads one.
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl_icd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

#ifndef TILEWISE_LISTS
#define TILEWISE_LISTS 0
#endif

namespace {

[[gnu::constructor]] void log_load() {
  const char* name = std::getenv("FAKE_DRIVER_LOG");
  std::FILE* log = name == nullptr ? nullptr : std::fopen(name, "a");
  if (log == nullptr) return;
  std::fputs(TILEWISE_LISTS == CL_DEVICE_TYPE_CPU   ? "cpu\n"
             : TILEWISE_LISTS == CL_DEVICE_TYPE_GPU ? "gpu\n"
                                                    : "faulty\n",
             log);
  std::fclose(log);
}

/// What the loader and its users have a handle to: the first member is the table of calls.
struct object {
  cl_icd_dispatch* calls;
};
cl_icd_dispatch calls{};
object platform{&calls}, device{&calls};

void misbehave() {
#if TILEWISE_HANGS
  const bool is_ours = fork() == 0;
  if (is_ours) std::signal(SIGTERM, SIG_IGN);
  if (!is_ours && std::getenv("FAKE_DRIVER_LEAVES") != nullptr) _exit(0);
  for (;;) pause();
#endif
  if (TILEWISE_LISTS != 0 && std::getenv("FAKE_DRIVER_CRASHES") == nullptr) return;
  std::signal(SIGSEGV, SIG_DFL);  // even where a sanitizer would report it in its own way
  std::raise(SIGSEGV);
}

cl_int answer(const void* value, std::size_t bytes, std::size_t room, void* to, std::size_t* needed) {
  if (needed != nullptr) *needed = bytes;
  if (to != nullptr && room < bytes) return CL_INVALID_VALUE;
  if (to != nullptr) std::memcpy(to, value, bytes);
  return CL_SUCCESS;
}

cl_int CL_API_CALL platform_info(cl_platform_id, cl_platform_info what, std::size_t room, void* to,
                                 std::size_t* needed) {
  const char* text = what == CL_PLATFORM_EXTENSIONS ? "cl_khr_icd"
                     : what == CL_PLATFORM_VERSION  ? "OpenCL 1.2 fake"
                                                    : "fake";
  return answer(text, std::strlen(text) + 1, room, to, needed);
}

cl_int CL_API_CALL device_ids(cl_platform_id, cl_device_type type, cl_uint room, cl_device_id* to, cl_uint* found) {
  const cl_device_type ours = TILEWISE_LISTS;
  if ((type & ours) == 0) return CL_DEVICE_NOT_FOUND;
  if (found != nullptr) *found = 1;
  if (to != nullptr && room > 0) *to = reinterpret_cast<cl_device_id>(&device);
  return CL_SUCCESS;
}

cl_int CL_API_CALL device_info(cl_device_id, cl_device_info what, std::size_t room, void* to, std::size_t* needed) {
  const cl_device_type type = TILEWISE_LISTS;
  void* of = &platform;
  if (what == CL_DEVICE_TYPE) return answer(&type, sizeof type, room, to, needed);
  if (what == CL_DEVICE_PLATFORM) return answer(&of, sizeof of, room, to, needed);
  if (what == CL_DEVICE_NAME) return answer("fake", 5, room, to, needed);
  return CL_INVALID_VALUE;
}

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED cl_int clIcdGetPlatformIDsKHR(cl_uint room, cl_platform_id* to, cl_uint* found) {
  misbehave();
  calls.clGetPlatformInfo = platform_info;
  calls.clGetDeviceIDs = device_ids;
  calls.clGetDeviceInfo = device_info;
  if (found != nullptr) *found = 1;
  if (to != nullptr && room > 0) *to = reinterpret_cast<cl_platform_id>(&platform);
  return CL_SUCCESS;
}

EXPORTED cl_int clGetPlatformInfo(cl_platform_id a, cl_platform_info b, std::size_t c, void* d, std::size_t* e) {
  return platform_info(a, b, c, d, e);
}

EXPORTED void* clGetExtensionFunctionAddress(const char* name) {
  if (std::strcmp(name, "clIcdGetPlatformIDsKHR") == 0) return reinterpret_cast<void*>(&clIcdGetPlatformIDsKHR);
  if (std::strcmp(name, "clGetPlatformInfo") == 0) return reinterpret_cast<void*>(&clGetPlatformInfo);
  return nullptr;
}
