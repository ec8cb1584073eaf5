// SPDX-License-Identifier: Apache-2.0
#include "backend/roofs.hpp"

#include <array>

namespace tilewise::backend {

const roofs* roofs_of(std::string_view backend) {
  static constexpr std::array all {
    roofs{"cpu", cpu::multiply_then_add, cpu::read, cpu::least_read, nullptr},
        roofs{"group", group::multiply_then_add, nullptr, nullptr, nullptr},
#if TILEWISE_WITH_OPENCL
        roofs{"opencl", opencl::multiply_then_add, opencl::read, opencl::least_read, opencl::launch},
#endif
#if TILEWISE_WITH_CUDA
        roofs{"cuda", cuda::multiply_then_add, cuda::read, cuda::least_read, cuda::launch},
#endif
  };
  for (const roofs& of : all)
    if (of.backend == backend) return &of;
  return nullptr;
}

}  // namespace tilewise::backend
