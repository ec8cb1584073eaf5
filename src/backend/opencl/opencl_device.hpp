// opencl devices and their queues.
#pragma once

#include "backend/backend.hpp"

#include <vector>

namespace tilewise::backend::opencl {

std::vector<std::shared_ptr<backend::device>> devices(std::string& why_none);

/// A device over the caller's in-order cl_command_queue, which must outlive it.
std::shared_ptr<backend::device> from_queue(void* queue);

}  // namespace tilewise::backend::opencl
