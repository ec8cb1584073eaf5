// SPDX-License-Identifier: Apache-2.0
// The OpenCL devices of all platforms, with consecutive numbers: opencl:0, opencl:1, ...
#pragma once

#include "backend/backend.hpp"
#include "backend/opencl/api.hpp"

#include <vector>

namespace tilewise::backend::opencl {

std::vector<std::shared_ptr<backend::device>> devices(std::string& why_none);

/// A device over the caller's in-order cl_command_queue, which must outlive it. Throws `invalid_argument` for a queue
/// that is null or out-of-order.
std::shared_ptr<backend::device> from_queue(void* queue);

/// What a device or its platform reports about itself; empty if it does not.
std::string device_text(cl_device_id device, cl_device_info what);
std::string platform_text(cl_device_id device);

/// Why the work-groups of a launch cannot send each other values on this device; empty if they can. That needs a
/// guarantee that a work-group makes progress while others wait for it. OpenCL gives none, but CPU threads and NVIDIA's
/// GPUs do.
std::string lacks_packets(const device_info& facts);

/// Why the device cannot run a work-group of this size with this much local memory; empty if it can.
std::string too_large(const device_info& facts, unsigned group_size, std::uint64_t local_bytes);

}  // namespace tilewise::backend::opencl
