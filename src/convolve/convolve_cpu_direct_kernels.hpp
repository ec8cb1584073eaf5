// What convolve_cpu_direct_kernels.cpp offers for each x86-64 level.
#pragma once

#include "backend/cpu/cpu_device.hpp"

namespace tilewise::impl::convolve {

/// A block of results, all of whose pixels are there: result (i, j) takes them from x[i * x_stride + j] on.
template <class T>
struct direct_step {
  const T* x;
  std::uint64_t x_stride;
  const T* mask;
  std::uint64_t mask_rows, mask_columns;
  T* y;
  std::uint64_t y_stride;
  std::uint64_t rows, columns;  // of the block
};

template <class T>
struct direct_kernels {
  void (*convolve)(const direct_step<T>& step);
};

// clang-format off
namespace v2 { template <class T> const direct_kernels<T>& direct(); }
namespace v3 { template <class T> const direct_kernels<T>& direct(); }
namespace v4 { template <class T> const direct_kernels<T>& direct(); }
// clang-format on

template <class T>
const direct_kernels<T>& direct_kernels_for(backend::cpu::instruction_set level) {
  return backend::cpu::at_level(level, v2::direct<T>(), v3::direct<T>(), v4::direct<T>());
}

}  // namespace tilewise::impl::convolve
