// SPDX-License-Identifier: Apache-2.0
// A thread's own stream to a CUDA device, for backend/transfer_team.
#pragma once

#include "backend/transfer_team.hpp"

namespace tilewise::backend::cuda {

std::unique_ptr<lane> open_lane(int ordinal);

}  // namespace tilewise::backend::cuda
