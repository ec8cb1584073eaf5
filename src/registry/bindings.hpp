// SPDX-License-Identifier: Apache-2.0
// Where a problem's operands lie.
#pragma once

#include "backend/backend.hpp"

#include <array>

namespace tilewise::registry {

/// Memory of the device whose queue runs the variant, in the order of the descriptor's inputs and outputs.
struct bindings {
  std::array<backend::memory, 4> in{};
  std::array<backend::memory, 4> out{};
};

}  // namespace tilewise::registry
