// SPDX-License-Identifier: Apache-2.0
// Which of a build's code versions a GPU runs: a GPU's features are only available if that code uses them.
#pragma once

#include <algorithm>
#include <initializer_list>

namespace tilewise::backend::cuda {

/// The newest of the architectures `built` that a device of compute capability `device` (90 for 9.0) can run, in the
/// form of `device`; 0 if there is none. `built` is in the form of nvcc's __CUDA_ARCH_LIST__ (900 for 9.0).
constexpr unsigned newest_code(std::initializer_list<unsigned> built, unsigned device) {
  unsigned newest = 0;
  for (const unsigned one : built)
    if (one / 10 <= device) newest = std::max(newest, one / 10);
  return newest;
}

}  // namespace tilewise::backend::cuda
