// SPDX-License-Identifier: Apache-2.0
// OpenCL calls with checked status, and owners of OpenCL objects.
#pragma once

#include "backend/driver_call.hpp"
#include "backend/opencl/api.hpp"

#include <tilewise/error.hpp>

#include <utility>

namespace tilewise::backend::opencl {

/// An error's name, such as "CL_OUT_OF_RESOURCES", or its number if it is unknown.
std::string name_of_status(cl_int status);

/// Throws unless `status` is CL_SUCCESS. The message has the call's text, the error's name and what it means for the
/// caller.
void check(cl_int status, const char* call);

/// TW_CL_WATCHED(cl().clFinish(queue)): returns the call's result without checking it. Like TW_CL, it records the call
/// for the watchdog (driver_call.hpp).
#define TW_CL_WATCHED(call) ::tilewise::backend::during(#call, [&] { return (call); })

/// TW_CL(cl().clFinish(queue)): a call that returns its status.
#define TW_CL(call) \
  ::tilewise::backend::opencl::check(::tilewise::backend::during(#call, [&] { return (call); }), #call)

/// TW_CL_MAKE(cl().clCreateKernel(program, name, tw_status)): a call that returns an object and a status.
#define TW_CL_MAKE(call) ::tilewise::backend::opencl::make([&](cl_int* tw_status) { return (call); }, #call)

template <class Call>
auto make(const Call& call, const char* text) {
  cl_int status = CL_SUCCESS;
  auto made = during(text, [&] { return call(&status); });
  check(status, text);
  return made;
}

/// Owns one reference to an OpenCL object.
template <class T, auto Release>
class handle {
 public:
  handle() = default;
  explicit handle(T object) : object_(object) {}
  handle(handle&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  handle& operator=(handle&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~handle() {
    if (object_ != nullptr) (cl().*Release)(object_);  // a destructor cannot report a failure
  }
  T get() const { return object_; }

 private:
  T object_ = nullptr;
};

using context_handle = handle<cl_context, &api::clReleaseContext>;
using queue_handle = handle<cl_command_queue, &api::clReleaseCommandQueue>;
using program_handle = handle<cl_program, &api::clReleaseProgram>;
using kernel_handle = handle<cl_kernel, &api::clReleaseKernel>;
using event_handle = handle<cl_event, &api::clReleaseEvent>;
using mem_handle = handle<cl_mem, &api::clReleaseMemObject>;

}  // namespace tilewise::backend::opencl
