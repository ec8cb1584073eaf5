// SPDX-License-Identifier: Apache-2.0
// What:   the kernel of diffuse/cuda:registers: several steps of a tile that its group holds in registers.
// Order:  shared.cuh.
// Shape:  rows.cuh. With each step the valid part of the tile shrinks by a radius on each side, except at an edge of
//         the field: beyond an edge there are copies of the edge. Tiles away from the edges, which are most of a large
//         field, run code without these copies.
// Limits: the field is no smaller than a tile; 31 bits count its rows and columns.
// Twins:  serial.cpp, opencl/registers.cl.
#pragma once

#include "backend/cuda/chain.cuh"
#include "diffuse/cuda/rows.cuh"

namespace tilewise::impl::diffuse {

/// A tile's shape, with the number of groups for whose registers a multiprocessor has room.
template <int Columns, int Rows, int Warps, int Groups>
struct register_shape : tile_shape<Columns, Rows, Warps> {
  static constexpr int groups = Groups, height = Warps * Rows;
};

/// The steps of a launch, whose grid is the tiles.
struct tile_pass {
  unsigned steps;
  int margin, halo;  // elements that the steps use up: left and right (margin), above and below (halo)
  bool packed;       // rows of the fields begin at packs, and so does a tile's own part of each row
};

/// In one direction: where a tile begins, and which part of the field it writes. Tiles are at equal distances, but the
/// last one ends with the field.
struct tile_span {
  int origin, begin, end;

  __device__ tile_span(unsigned index, unsigned count, int length, int size, int halo) {
    const int step = size - 2 * halo, first = static_cast<int>(index) * step;
    origin = min(first, length - size);
    begin = index == 0 ? 0 : first + halo;
    end = index + 1 == count ? length : first + step + halo;
  }
  __device__ bool owns(int at) const { return at >= begin && at < end; }
};

/// Returns the same number, but hides that from the compiler. So the compiler does not keep values in registers that it
/// computed from the number before.
__device__ __forceinline__ unsigned anew(unsigned number) {
  asm volatile("" : "+r"(number));
  return number;
}

/// Where the tile of a group lies, and the first element of a thread.
template <class Shape>
struct tile_place {
  tile_span x, y;
  int i, j;

  template <class T>
  __device__ __forceinline__ tile_place(const field<T>& f, const tile_pass& pass, unsigned group_x, unsigned group_y,
                                        unsigned warp, unsigned lane)
      : x(group_x, gridDim.x, static_cast<int>(f.columns), Shape::width, pass.margin),
        y(group_y, gridDim.y, static_cast<int>(f.rows), Shape::height, pass.halo),
        i(x.origin + static_cast<int>(lane) * Shape::columns),
        j(y.origin + static_cast<int>(warp) * Shape::rows) {}
};

/// A warp's rows of a tile, which lies within the field.
template <class T, mask Mask, class Shape>
struct register_rows : tile_rows<T, Mask, Shape::columns, Shape::rows> {
  using held = tile_rows<T, Mask, Shape::columns, Shape::rows>;
  using place = tile_place<Shape>;
  using held::f, held::i, held::j, held::columns, held::rows, held::values;
  static constexpr int pack_columns = pack_length<T>;  // with a sign, as offsets are
  static constexpr bool may_pack = columns % pack_columns == 0;

  /// Loads past the first-level cache, since other launches wrote the field.
  __device__ __forceinline__ void load(const T* from, bool packed) {
    from += j * f.columns + i;
#pragma unroll
    for (int k = 0; k < rows; ++k, from += f.columns) {
      if (may_pack && packed) {
#pragma unroll
        for (int v = 0; v < columns; v += pack_columns) {
          const pack<T> some = load_pack(from + v);
          memcpy(values[k] + v, some.at, sizeof some);
        }
      } else {
#pragma unroll
        for (int v = 0; v < columns; ++v) values[k][v] = __ldcg(from + v);
      }
    }
  }

  __device__ __forceinline__ void store(T* to, const place& at, bool packed) {
    to += at.j * f.columns + at.i;
#pragma unroll
    for (int k = 0; k < rows; ++k, to += f.columns) {
      if (!at.y.owns(at.j + k)) continue;
#pragma unroll
      for (int v = 0; v < columns; ++v) values[k][v] = order::canonical(values[k][v]);
      if (may_pack && packed) {
#pragma unroll
        for (int v = 0; v < columns; v += pack_columns)
          if (at.x.owns(at.i + v)) store_pack(to + v, pack_of(values[k] + v));
      } else {
#pragma unroll
        for (int v = 0; v < columns; ++v)
          if (at.x.owns(at.i + v)) to[v] = values[k][v];
      }
    }
  }

  __device__ __forceinline__ void set_strips() {
    const int above = static_cast<int>(f.half) - j;  // the thread's rows from there on are in the right strip
    const int left = i == 0 ? above : 0, right = i + columns == f.columns ? above : rows;
#pragma unroll
    for (int k = 0; k < rows; ++k) {
      if (k < left) values[k][0] = 1;
      if (k >= right) values[k][columns - 1] = 1;
    }
  }

  /// All threads of the group must agree on the form, and on whether columns of the tile are edges of the field.
  template <mask Form, bool AtEdge>
  __device__ __forceinline__ void steps(unsigned count) {
    using sums_type = row_sums<T, Form, columns>;
    for (int side = 0; count != 0; --count, side = 1 - side) {
      if (AtEdge) set_strips();
      this->share(side);
      __syncthreads();
      this->template step_rows<Form>([&](int k, T(&wide)[sums_type::width]) {
        sums_type::template widen<AtEdge>(this->row_at(side, k).values, wide);
      });
    }
  }

  /// Steps in the form of the mask that is tried first or, if a value is too large for it, in the definition's form.
  __device__ __forceinline__ void steps(unsigned count, bool is_at_edge) {
    if (Mask == mask::five_points && __syncthreads_or(!f.can_scale || this->is_any_huge()) != 0)
      steps<Mask, true>(count);
    else if (is_at_edge)
      steps<quick_form(Mask), true>(count);
    else
      steps<quick_form(Mask), false>(count);
  }
};

/// The size of shared memory: each warp's first and last rows, in two copies that alternate.
template <class Shape>
constexpr std::size_t register_bytes(unsigned radius, std::size_t element) {
  return std::size_t{4 * radius} * Shape::warps * Shape::width * element;
}

template <class T, mask Mask, class Shape>
__global__ void __launch_bounds__(Shape::warps* warp_size, Shape::groups)
    steps_in_registers(const T* from, T* to, const __grid_constant__ field<T> f, const tile_pass pass) {
  extern __shared__ __align__(16) unsigned char room[];
  const unsigned warp = warp_of_group(), lane = threadIdx.x % warp_size;
  const tile_place<Shape> here(f, pass, blockIdx.x, blockIdx.y, warp, lane);
  const bool is_at_edge = here.x.origin == 0 || here.x.origin + Shape::width == f.columns;
  register_rows<T, Mask, Shape> mine{{f,
                                      reinterpret_cast<lane_row<T, Shape::columns>*>(room),
                                      static_cast<int>(warp),
                                      Shape::warps,
                                      static_cast<int>(lane),
                                      here.i,
                                      here.j,
                                      {}}};
  wait_for_kernel_before();
  let_next_kernel_begin();
  mine.load(from, pass.packed);
  mine.steps(pass.steps, is_at_edge);
  // Computed again: if it were kept, it would take registers during all steps.
  const unsigned thread = anew(threadIdx.x);
  const tile_place<Shape> again(f, pass, anew(blockIdx.x), anew(blockIdx.y), thread / warp_size, thread % warp_size);
  mine.store(to, again, pass.packed);
}

}  // namespace tilewise::impl::diffuse
