// The peers on CUDA.
#pragma once

#include "registry/variant.hpp"

#include <vector>

namespace tilewise::peers {

std::vector<registry::variant> cub_variants();

}  // namespace tilewise::peers
