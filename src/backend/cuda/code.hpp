// SPDX-License-Identifier: Apache-2.0
// Which code of a build a GPU runs: what it can do counts only as far as that code does it.
#pragma once

#include <algorithm>
#include <initializer_list>

namespace tilewise::backend::cuda {

/// Of the architectures that a build was made for, as nvcc's __CUDA_ARCH_LIST__ has them (900 for 9.0), the newest one
/// that a device of compute capability `device` (90 for 9.0) knows; 0 if there is none.
constexpr unsigned newest_code(std::initializer_list<unsigned> built, unsigned device) {
  unsigned newest = 0;
  for (const unsigned one : built)
    if (one / 10 <= device) newest = std::max(newest, one / 10);
  return newest;
}

}  // namespace tilewise::backend::cuda
