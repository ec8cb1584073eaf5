// The peers on CUDA.
#pragma once

#include "registry/variant.hpp"

#include <vector>

namespace tilewise::peers {

std::vector<registry::variant> cub_variants();
std::vector<registry::variant> cublas_variants();
std::vector<registry::variant> cufft_variants();
std::vector<registry::variant> diffuse_cuda_variants();

}  // namespace tilewise::peers
