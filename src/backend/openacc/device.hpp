// SPDX-License-Identifier: Apache-2.0
// openacc devices: the NVIDIA GPUs that GCC's run-time library finds, otherwise the host.
#pragma once

#include "backend/backend.hpp"

#include <vector>

namespace tilewise::backend::openacc {

/// Without an accelerator, openacc:0 is the host, and info().platform says why.
std::vector<std::shared_ptr<backend::device>> devices(std::string& why_none);

}  // namespace tilewise::backend::openacc
