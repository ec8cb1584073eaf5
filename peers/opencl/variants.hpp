// SPDX-License-Identifier: Apache-2.0
// The peers on OpenCL.
#pragma once

#include "registry/variant.hpp"

#include <vector>

namespace tilewise::peers {

std::vector<registry::variant> clblast_variants();
std::vector<registry::variant> diffuse_opencl_variants();

}  // namespace tilewise::peers
