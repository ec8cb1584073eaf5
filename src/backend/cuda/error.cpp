// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/error.hpp"

#include <string>

namespace tilewise::backend::cuda {

namespace {

/// Whether this error loses the device's context, so that every later call in the process fails too.
bool is_sticky(cudaError_t status) {
  switch (status) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorUnknown: return true;
    default: return false;
  }
}

bool is_missing(cudaError_t status) {
  return status == cudaErrorNoDevice || status == cudaErrorInvalidDevice || status == cudaErrorInsufficientDriver ||
         status == cudaErrorInitializationError || status == cudaErrorDevicesUnavailable;
}

}  // namespace

void fail(cudaError_t status, const char* call) {
  ignore(status);
  const std::string what =
      std::string(call) + " failed: " + cudaGetErrorString(status) + " (" + cudaGetErrorName(status) + ")";
  if (status == cudaErrorMemoryAllocation)
    throw error(errc::out_of_memory, what + "; use less data or free other arrays first");
  if (is_sticky(status))
    throw error(errc::device_lost, what + "; this process can no longer use the device: restart it");
  if (is_missing(status)) throw error(errc::device_lost, what + "; `tilewise devices` lists what is here");
  throw error(errc::unsupported, what);
}

}  // namespace tilewise::backend::cuda
