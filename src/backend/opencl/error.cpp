// SPDX-License-Identifier: Apache-2.0
#include "backend/opencl/error.hpp"

namespace tilewise::backend::opencl {

namespace {

struct named_status {
  cl_int status;
  const char* name;
};

#define TILEWISE_STATUS(name) \
  { name, #name }
constexpr named_status names[] = {
    TILEWISE_STATUS(CL_DEVICE_NOT_FOUND),
    TILEWISE_STATUS(CL_DEVICE_NOT_AVAILABLE),
    TILEWISE_STATUS(CL_COMPILER_NOT_AVAILABLE),
    TILEWISE_STATUS(CL_MEM_OBJECT_ALLOCATION_FAILURE),
    TILEWISE_STATUS(CL_OUT_OF_RESOURCES),
    TILEWISE_STATUS(CL_OUT_OF_HOST_MEMORY),
    TILEWISE_STATUS(CL_PROFILING_INFO_NOT_AVAILABLE),
    TILEWISE_STATUS(CL_MEM_COPY_OVERLAP),
    TILEWISE_STATUS(CL_BUILD_PROGRAM_FAILURE),
    TILEWISE_STATUS(CL_MISALIGNED_SUB_BUFFER_OFFSET),
    TILEWISE_STATUS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
    TILEWISE_STATUS(CL_COMPILE_PROGRAM_FAILURE),
    TILEWISE_STATUS(CL_LINKER_NOT_AVAILABLE),
    TILEWISE_STATUS(CL_LINK_PROGRAM_FAILURE),
    TILEWISE_STATUS(CL_INVALID_VALUE),
    TILEWISE_STATUS(CL_INVALID_PLATFORM),
    TILEWISE_STATUS(CL_INVALID_DEVICE),
    TILEWISE_STATUS(CL_INVALID_CONTEXT),
    TILEWISE_STATUS(CL_INVALID_QUEUE_PROPERTIES),
    TILEWISE_STATUS(CL_INVALID_COMMAND_QUEUE),
    TILEWISE_STATUS(CL_INVALID_MEM_OBJECT),
    TILEWISE_STATUS(CL_INVALID_BINARY),
    TILEWISE_STATUS(CL_INVALID_BUILD_OPTIONS),
    TILEWISE_STATUS(CL_INVALID_PROGRAM),
    TILEWISE_STATUS(CL_INVALID_PROGRAM_EXECUTABLE),
    TILEWISE_STATUS(CL_INVALID_KERNEL_NAME),
    TILEWISE_STATUS(CL_INVALID_KERNEL),
    TILEWISE_STATUS(CL_INVALID_ARG_INDEX),
    TILEWISE_STATUS(CL_INVALID_ARG_VALUE),
    TILEWISE_STATUS(CL_INVALID_ARG_SIZE),
    TILEWISE_STATUS(CL_INVALID_KERNEL_ARGS),
    TILEWISE_STATUS(CL_INVALID_WORK_DIMENSION),
    TILEWISE_STATUS(CL_INVALID_WORK_GROUP_SIZE),
    TILEWISE_STATUS(CL_INVALID_WORK_ITEM_SIZE),
    TILEWISE_STATUS(CL_INVALID_GLOBAL_OFFSET),
    TILEWISE_STATUS(CL_INVALID_EVENT_WAIT_LIST),
    TILEWISE_STATUS(CL_INVALID_EVENT),
    TILEWISE_STATUS(CL_INVALID_OPERATION),
    TILEWISE_STATUS(CL_INVALID_BUFFER_SIZE),
    TILEWISE_STATUS(CL_INVALID_GLOBAL_WORK_SIZE),
};
#undef TILEWISE_STATUS

constexpr cl_int platform_not_found = -1001;  // CL_PLATFORM_NOT_FOUND_KHR of the loader

struct meaning {
  errc code;
  const char* advice;
};

meaning meaning_of(cl_int status) {
  switch (status) {
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_RESOURCES:
    case CL_OUT_OF_HOST_MEMORY:
      return {errc::out_of_memory, "the device has no room for this; use fewer elements or a smaller group_size"};
    case CL_BUILD_PROGRAM_FAILURE:
    case CL_COMPILE_PROGRAM_FAILURE:
    case CL_LINK_PROGRAM_FAILURE:
    case CL_COMPILER_NOT_AVAILABLE:
    case CL_INVALID_BUILD_OPTIONS:
      return {errc::build_failed, "the device's compiler rejected the program; a newer driver may help"};
    case CL_INVALID_WORK_GROUP_SIZE:
    case CL_INVALID_WORK_ITEM_SIZE:
      return {errc::unsupported, "the device cannot run a group this large; choose a smaller group_size"};
    default: return {errc::device_lost, "the device or its driver failed; try again or open another device"};
  }
}

}  // namespace

std::string name_of_status(cl_int status) {
  for (const named_status& known : names)
    if (known.status == status) return known.name;
  if (status == platform_not_found) return "CL_PLATFORM_NOT_FOUND_KHR";
  return "OpenCL error " + std::to_string(status);
}

void check(cl_int status, const char* call) {
  if (status == CL_SUCCESS) return;
  const meaning what = meaning_of(status);
  throw error(what.code, std::string(call) + " returned " + name_of_status(status) + ": " + what.advice);
}

}  // namespace tilewise::backend::opencl
