// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/cuda_tensor_map.hpp"

#include <tilewise/error.hpp>

#include <array>
#include <string>

#include <dlfcn.h>

namespace tilewise::backend::cuda {

namespace {

using encoder = decltype(&cuTensorMapEncodeTiled);

/// Null without a driver, or with one older than CUDA 12.
encoder find_encoder() {
  static const encoder found = []() -> encoder {
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);  // never closed: the runtime has it open too
    return driver == nullptr ? nullptr : reinterpret_cast<encoder>(dlsym(driver, "cuTensorMapEncodeTiled"));
  }();
  return found;
}

}  // namespace

bool has_tensor_maps() { return find_encoder() != nullptr; }

CUtensorMap tf32_map(const float* first, std::uint64_t rows, std::uint64_t columns, std::uint64_t stride,
                     unsigned box_rows) {
  const std::array<cuuint64_t, 2> size{columns, rows};
  const std::array<cuuint64_t, 1> bytes_a_row{stride * sizeof(float)};
  const std::array<cuuint32_t, 2> box{box_columns, box_rows}, step{1, 1};
  CUtensorMap map;
  const CUresult status =
      find_encoder()(&map, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, 2, const_cast<float*>(first), size.data(),
                     bytes_a_row.data(), box.data(), step.data(), CU_TENSOR_MAP_INTERLEAVE_NONE,
                     CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS)
    throw error(errc::unsupported, "cuTensorMapEncodeTiled failed: " + std::to_string(status));
  return map;
}

}  // namespace tilewise::backend::cuda
