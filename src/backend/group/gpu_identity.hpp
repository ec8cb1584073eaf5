// SPDX-License-Identifier: Apache-2.0
// Which GPU a rank computes on, whatever its process calls it.
#pragma once

#include "backend/backend.hpp"

#include <array>
#include <optional>

namespace tilewise::backend::group {

/// No two GPUs have the same; all zero for what is no CUDA device.
using gpu_identity = std::array<char, 16>;
gpu_identity identity_of(const backend::device& device);

/// The first two ranks, in the order given, that are on one GPU.
struct sharing {
  unsigned first, second;
};
std::optional<sharing> find_sharing(std::span<const gpu_identity> of_ranks);

}  // namespace tilewise::backend::group
