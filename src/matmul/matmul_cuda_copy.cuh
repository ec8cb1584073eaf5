// SPDX-License-Identifier: Apache-2.0
// What:   tiles of A and B on their way from global to shared memory, several steps ahead of their use.
// Order:  none; only data moves.
// Shape:  every thread of the group copies its share; a step is one committed set of copies.
// Limits: compute capability 8.0. Copies are of 16 bytes where addresses allow it, else of one element.
// Twins:  none.
#pragma once

#include "backend/cuda/cuda_copy.cuh"
#include "backend/cuda/cuda_warp.cuh"
#include "matmul/matmul_cuda.cuh"

namespace tilewise::impl::matmul {

using backend::cuda::commit_copies;
using backend::cuda::copy_async;
using backend::cuda::pack;
using backend::cuda::pack_length;
using backend::cuda::wait_for_copies;
using backend::cuda::warp_size;

/// Whether all rows start at multiples of 16 bytes.
template <class T>
__device__ bool is_packable(const T* first, std::uint64_t stride) {
  return (reinterpret_cast<std::uintptr_t>(first) | stride * sizeof(T)) % 16 == 0;
}

/// A matrix as a source of tiles.
template <class T>
struct source {
  const T* first;
  std::uint64_t rows, columns, stride;
  bool in_packs;  // rows start at multiples of 16 bytes

  __device__ source(const T* first_, std::uint64_t rows_, std::uint64_t columns_, std::uint64_t stride_)
      : first(first_), rows(rows_), columns(columns_), stride(stride_), in_packs(is_packable(first_, stride_)) {}
};

/// A Rows x Columns tile at (row, column) to shared memory with rows `Pitch` apart. What is beyond the matrix becomes
/// `absent`.
template <unsigned Rows, unsigned Columns, unsigned Pitch, unsigned Threads, class T>
__device__ void copy_tile(T* to, const source<T>& from, std::uint64_t row, std::uint64_t column, T absent) {
  constexpr unsigned length = pack_length<T>, packs = Columns / length, loads = Rows * packs / Threads;
  static_assert(Rows * packs % Threads == 0 && Threads % packs == 0);
  const unsigned y = threadIdx.x / packs, x = threadIdx.x % packs * length;
  const T* source_row = from.first + (row + y) * from.stride + column + x;
  T* target = to + y * Pitch + x;
  const std::uint64_t step = Threads / packs * from.stride;
  const bool whole = from.in_packs && row + Rows <= from.rows && column + Columns <= from.columns;
#pragma unroll
  for (unsigned i = 0; i < loads; ++i) {
    if (whole) {
      copy_async<16>(target, source_row);
    } else {
#pragma unroll
      for (unsigned e = 0; e < length; ++e) {
        if (row + y + i * (Threads / packs) < from.rows && column + x + e < from.columns)
          copy_async<sizeof(T)>(target + e, source_row + e);
        else
          target[e] = absent;
      }
    }
    source_row += step;
    target += Threads / packs * Pitch;
  }
}

/// `Length` neighbours in a row of C, canonical, from `column` on; those beyond the last column are left out.
template <unsigned Length, class T>
__device__ void store_row(T* row, std::uint64_t column, std::uint64_t columns, const T* values, bool in_packs) {
  T ready[Length];
#pragma unroll
  for (unsigned e = 0; e < Length; ++e) ready[e] = order::canonical(values[e]);
  if (in_packs && column + Length <= columns) {
    struct alignas(Length * sizeof(T)) unit {
      T at[Length];
    };
    *reinterpret_cast<unit*>(row + column) = *reinterpret_cast<const unit*>(ready);
  } else {
#pragma unroll
    for (unsigned e = 0; e < Length; ++e)
      if (column + e < columns) row[column + e] = ready[e];
  }
}

}  // namespace tilewise::impl::matmul
