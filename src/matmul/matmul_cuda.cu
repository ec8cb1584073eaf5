// The CUDA variants of matmul, the preferred one first; tf32 is passed over unless the caller asks for `fast`.
#include "matmul/matmul_cuda.hpp"

namespace tilewise::impl::matmul {

std::vector<registry::variant> matmul_cuda_variants() {
  return {tf32_variant(), tensor_f64_variant(), register_tiles_variant(), blocked16_variant(), simple_variant()};
}

}  // namespace tilewise::impl::matmul
