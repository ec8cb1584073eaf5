// cuda devices and their queues.
#pragma once

#include "backend/backend.hpp"

#include <vector>

namespace tilewise::backend::cuda {

std::vector<std::shared_ptr<backend::device>> devices(std::string& why_none);

/// A device over the caller's cudaStream_t, which must outlive it.
std::shared_ptr<backend::device> from_stream(int ordinal, void* stream);

}  // namespace tilewise::backend::cuda
