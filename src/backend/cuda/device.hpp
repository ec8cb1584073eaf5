// SPDX-License-Identifier: Apache-2.0
// cuda devices and their queues.
#pragma once

#include "backend/backend.hpp"

#include <array>
#include <vector>

namespace tilewise::backend::cuda {

std::vector<std::shared_ptr<backend::device>> devices(std::string& why_none);

/// A device over the caller's cudaStream_t, which must outlive it.
std::shared_ptr<backend::device> from_stream(int ordinal, void* stream);

/// NVIDIA's UUID of the device's GPU or MIG instance: the same in every process.
std::array<char, 16> uuid_of(const backend::device& device);

}  // namespace tilewise::backend::cuda
