// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/tensor_map.hpp"

#include <tilewise/error.hpp>

#include <array>
#include <string>

#include <dlfcn.h>

namespace tilewise::backend::cuda {

namespace {

using encoder = decltype(&cuTensorMapEncodeTiled);

/// The driver's function; null without a driver, or if it is older than CUDA 12.
encoder find_encoder() {
  static const encoder found = []() -> encoder {
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);  // never closed, since the runtime uses it too
    return driver == nullptr ? nullptr : reinterpret_cast<encoder>(dlsym(driver, "cuTensorMapEncodeTiled"));
  }();
  return found;
}

/// The element type of a matrix, and the layout of its boxes in shared memory.
struct layout {
  CUtensorMapDataType type;
  CUtensorMapSwizzle order;
};

CUtensorMap map_of(layout of, const float* first, std::array<cuuint64_t, 2> size, std::uint64_t stride,
                   std::array<cuuint32_t, 2> box) {
  const std::array<cuuint64_t, 1> bytes_a_row{stride * sizeof(float)};
  const std::array<cuuint32_t, 2> step{1, 1};
  CUtensorMap map;
  const CUresult status = find_encoder()(&map, of.type, 2, const_cast<float*>(first), size.data(), bytes_a_row.data(),
                                         box.data(), step.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, of.order,
                                         CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS)
    throw error(errc::unsupported, "cuTensorMapEncodeTiled failed: " + std::to_string(status));
  return map;
}

}  // namespace

bool has_tensor_maps() { return find_encoder() != nullptr; }

CUtensorMap tf32_map(const float* first, std::uint64_t rows, std::uint64_t columns, std::uint64_t stride,
                     unsigned box_rows) {
  return map_of({CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, CU_TENSOR_MAP_SWIZZLE_128B}, first, {columns, rows}, stride,
                {box_columns, box_rows});
}

CUtensorMap box_map(const float* first, std::uint64_t rows, std::uint64_t columns, unsigned box_rows,
                    unsigned box_width) {
  return map_of({CU_TENSOR_MAP_DATA_TYPE_FLOAT32, CU_TENSOR_MAP_SWIZZLE_NONE}, first, {columns, rows}, columns,
                {box_width, box_rows});
}

}  // namespace tilewise::backend::cuda
