// SPDX-License-Identifier: Apache-2.0
// A thread's own command queue to an OpenCL device, for backend/transfer_team.
#pragma once

#include "backend/opencl/error.hpp"
#include "backend/transfer_team.hpp"

namespace tilewise::backend::opencl {

/// `shares_memory`: whether the device is the host's own processor, so that pinned buffers would be one more copy.
std::unique_ptr<lane> open_lane(cl_context context, cl_device_id device, bool shares_memory);

}  // namespace tilewise::backend::opencl
