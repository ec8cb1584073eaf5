// SPDX-License-Identifier: Apache-2.0
// openacc devices: the NVIDIA GPUs that GCC's run-time library sees, or else the host.
#pragma once

#include "backend/backend.hpp"

#include <vector>

namespace tilewise::backend::openacc {

/// Without an accelerator openacc:0 is the host and says why.
std::vector<std::shared_ptr<backend::device>> devices(std::string& why_none);

}  // namespace tilewise::backend::openacc
