// SPDX-License-Identifier: Apache-2.0
// What:   one step per pass, without shared memory; diffuse/cuda:temporal uses it for passes of one step.
// Order:  shared.cuh.
// Shape:  a thread steps 16 bytes of each of two rows. It loads the neighbouring elements too, from the L1 cache.
// Limits: none.
// Twins:  serial.cpp.
#pragma once

#include "diffuse/cuda/shared.cuh"

namespace tilewise::impl::diffuse {

inline constexpr unsigned direct_rows = 2, direct_warps = 8;

/// The elements of `Rows` rows from j on that a thread reads, from column i on.
template <class T, int Rows, int Width>
__device__ __forceinline__ void load_inner(const T* from, const field<T>& f, std::int64_t j, std::int64_t i,
                                           T (&near)[Rows][Width]) {
  constexpr int radius = (Width - pack_length<T>) / 2;
#pragma unroll
  for (int k = 0; k < Rows; ++k) {
    const T* const source = from + f.within(j + k, f.rows) * f.columns + i;
    const pack<T> own = load_pack_cached(source + radius);
    memcpy(near[k] + radius, own.at, sizeof own);
#pragma unroll
    for (int r = 0; r < radius; ++r) {
      near[k][r] = __ldg(source + r);
      near[k][radius + pack_length<T> + r] = __ldg(source + radius + pack_length<T> + r);
    }
  }
}

/// The same for columns that may be in the strips or beyond an edge, or rows that do not begin at a pack.
template <class T, int Rows, int Width>
__device__ __forceinline__ void load_anywhere(const T* from, const field<T>& f, std::int64_t j, std::int64_t i,
                                              T (&near)[Rows][Width]) {
#pragma unroll
  for (int k = 0; k < Rows; ++k) {
    const std::int64_t row = f.within(j + k, f.rows);
#pragma unroll
    for (int c = 0; c < Width; ++c) {
      const std::int64_t column = f.within(i + c, f.columns);
      near[k][c] = f.in_strip(row, column) ? T(1) : __ldg(from + row * f.columns + column);
    }
  }
}

template <class T, mask Mask>
__global__ void __launch_bounds__(direct_warps* warp_size)
    step_directly(const T* __restrict__ from, T* __restrict__ to, const __grid_constant__ field<T> f, unsigned across,
                  bool packed) {
  constexpr int radius = radius_of(Mask), rows = direct_rows, columns = pack_length<T>;
  const std::int64_t i = (std::int64_t{blockIdx.x % across} * warp_size + threadIdx.x) * columns;
  const std::int64_t j = (std::int64_t{blockIdx.x / across} * direct_warps + threadIdx.y) * rows;
  if (i >= f.columns || j >= f.rows) return;
  T near[rows + 2 * radius][columns + 2 * radius];
  if (packed && i > radius && i + columns + radius < f.columns) {
    load_inner(from, f, j - radius, i - radius, near);
  } else {
    load_anywhere(from, f, j - radius, i - radius, near);
  }
#pragma unroll
  for (int k = 0; k < rows; ++k) {
    if (j + k >= f.rows) return;
    pack<T> next;
#pragma unroll
    for (int v = 0; v < columns; ++v)
      next.at[v] = order::canonical(stepped<Mask, device_arithmetic>(
          f.w, [&](int dy, int dx) { return near[k + radius + dy][v + radius + dx]; }));
    T* const target = to + (j + k) * f.columns + i;
    if (packed) {
      store_pack(target, next);
    } else {
#pragma unroll
      for (int v = 0; v < columns; ++v)
        if (i + v < f.columns) target[v] = next.at[v];
    }
  }
}

/// A launch has across * down groups.
inline std::uint64_t direct_groups_across(std::uint64_t columns, std::uint64_t columns_a_thread) {
  return ceil_div(columns, warp_size * columns_a_thread);
}
inline std::uint64_t direct_groups_down(std::uint64_t rows) { return ceil_div(rows, direct_warps * direct_rows); }

template <class T, mask Mask>
void launch_direct(const T* from, T* to, const field<T>& f, queue& q) {
  const auto rows = static_cast<std::uint64_t>(f.rows), columns = static_cast<std::uint64_t>(f.columns);
  const auto across = static_cast<unsigned>(direct_groups_across(columns, pack_length<T>));
  step_directly<T, Mask>
      <<<static_cast<unsigned>(across * direct_groups_down(rows)), dim3(warp_size, direct_warps), 0, q.stream()>>>(
          from, to, f, across, is_packed(from, to, columns));
  TW_CUDA(cudaGetLastError());
}

}  // namespace tilewise::impl::diffuse
