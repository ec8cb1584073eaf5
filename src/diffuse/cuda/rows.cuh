// SPDX-License-Identifier: Apache-2.0
// What:   a tile that a group holds in registers: the rows of a warp, the rows that warps share, and a step.
// Order:  shared.cuh.
// Shape:  a lane holds `Columns` neighbouring elements of each of its warp's rows. It gets neighbours in a row by
//         shuffles. It gets neighbours above and below from the next warps, which store their outer rows in shared
//         memory. There are two copies of these, which alternate, so that one barrier per step is enough.
// Limits: a warp has no fewer rows than a radius.
// Twins:  serial.cpp, opencl/registers.cl.
#pragma once

#include "diffuse/cuda/shared.cuh"

namespace tilewise::impl::diffuse {

/// The shapes of tiles: small ones share a small field among more multiprocessors.
template <int Columns, int Rows, int Warps>
struct tile_shape {
  static constexpr int columns = Columns, rows = Rows, warps = Warps, width = warp_size * Columns;
};

/// A lane's part of a row.
template <class T, int Columns>
struct alignas(sizeof(T) * Columns < 16 ? sizeof(T) * Columns : 16) lane_row {
  T values[Columns];
};

/// A warp's rows of a tile.
template <class T, mask Mask, int Columns, int Rows>
struct tile_rows {
  static constexpr int lanes = warp_size;  // with a sign, as offsets are
  static constexpr int radius = radius_of(Mask), columns = Columns, rows = Rows, width = lanes * Columns;
  static_assert(Rows >= radius);

  const field<T>& f;
  lane_row<T, Columns>* shared;  // two copies of each warp's first and last rows
  int warp, warps;
  int lane, i, j;  // i, j: the thread's first element, in the field
  T values[Rows][Columns];

  __device__ __forceinline__ lane_row<T, Columns>& shared_row(int side, int of, int index) const {
    return shared[((side * warps + of) * 2 * radius + index) * lanes + lane];
  }

  __device__ __forceinline__ lane_row<T, Columns> row_of(int k) const {
    lane_row<T, Columns> row;
#pragma unroll
    for (int v = 0; v < Columns; ++v) row.values[v] = values[k][v];
    return row;
  }

  __device__ __forceinline__ void share(int side) const {
#pragma unroll
    for (int r = 0; r < radius; ++r) {
      shared_row(side, warp, r) = row_of(r);
      shared_row(side, warp, radius + r) = row_of(Rows - radius + r);
    }
  }

  /// Row k of the warp, or of a warp next to it. Beyond the tile there is a copy of the tile's outer row.
  __device__ __forceinline__ lane_row<T, Columns> row_at(int side, int k) const {
    const bool is_first = warp == 0, is_last = warp + 1 == warps;
    return k < 0      ? shared_row(side, is_first ? warp : warp - 1, is_first ? 0 : 2 * radius + k)
           : k < Rows ? row_of(k)
                      : shared_row(side, is_last ? warp : warp + 1, is_last ? 2 * radius - 1 : k - Rows);
  }

  /// One step; take(k, wide) gives row k and its neighbours.
  template <mask Form, class Take>
  __device__ __forceinline__ void step_rows(const Take& take) {
    using sums_type = row_sums<T, Form, Columns>;
    sums_type sums{};
    T wide[sums_type::width]{};
    T next[Columns];
#pragma unroll
    for (int k = -radius; k < Rows + radius; ++k) {
      take(k, wide);
      sums.push(wide, next, f.template weights_for<Form>());
#pragma unroll
      for (int v = 0; v < Columns; ++v)
        if (k >= radius) values[k - radius][v] = next[v];
    }
  }

  __device__ __forceinline__ bool is_any_huge() const {
    bool is_any = false;
#pragma unroll
    for (int k = 0; k < Rows; ++k)
#pragma unroll
      for (int v = 0; v < Columns; ++v) is_any |= is_huge(values[k][v]);
    return is_any;
  }
};

}  // namespace tilewise::impl::diffuse
