// SPDX-License-Identifier: Apache-2.0
// The OpenCL devices of every platform, numbered together: opencl:0, opencl:1, ...
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

/// Why the groups of a launch cannot send each other values there; empty if a group is known to go on while others wait
/// for it, which OpenCL does not promise: threads of a CPU do, and NVIDIA's units.
std::string lacks_packets(const device_info& facts);

/// Why the device cannot hold a group of this many items with this much local memory; empty if it can.
std::string too_large(const device_info& facts, unsigned group_size, std::uint64_t local_bytes);

}  // namespace tilewise::backend::opencl
