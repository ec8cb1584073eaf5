// SPDX-License-Identifier: Apache-2.0
// What:   a group computes a tile of C with tensor cores; tiles of A and B pass through stages of shared memory.
// Order:  in f64 one chain per element: the tensor cores' products are ascending chains of fused multiply-adds. In TF32
//         the operands are rounded to 10 bits and the association is the hardware's.
// Shape:  a warp makes WarpRows x WarpColumns of the tile in its registers; one barrier per step of `depth` k's.
// Limits: compute capability 8.0; shared memory for the stages; fewer than 2^32 steps, which are 512 GB of a row of A.
// Twins:  serial.cpp.
#pragma once

#include "base/ceil_div.hpp"
#include "matmul/cuda/copy.cuh"
#include "matmul/cuda/shares.cuh"

namespace tilewise::impl::matmul {

/// Lane l holds these elements. A: rows l/4 and l/4+8 of column l%4, then the same rows of column l%4+4. B: column l/4
/// of row l%4, then of row l%4+4. C: columns 2(l%4) and 2(l%4)+1 of row l/4, then of row l/4+8.
__device__ inline void multiply_tiles(double (&c)[4], const double (&a)[4], const double (&b)[2]) {
#if __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#else
#pragma unroll
  for (unsigned e = 0; e < 4; ++e)
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
        : "+d"(c[e % 2 * 2]), "+d"(c[e % 2 * 2 + 1])
        : "d"(a[e]), "d"(b[e / 2]));
#endif
}

__device__ inline void multiply_tiles(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ inline double factor_of(double x) { return x; }
/// Rounds to TF32. NaNs need care: their fraction may be only in the dropped bits, which would turn them into
/// infinities.
__device__ inline unsigned factor_of(float x) {
  constexpr unsigned nan = 0x7fffffff;
  unsigned rounded;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(x));
  return isnan(x) ? nan : rounded;
}

/// Rows x Columns of C for a group, WarpRows x WarpColumns for a warp, Depth k's per step.
template <class T_, unsigned Speed, unsigned Rows, unsigned Columns, unsigned WarpRows, unsigned WarpColumns,
          unsigned Depth, unsigned Stages, unsigned Groups>
struct tensor_shape {
  using T = T_;
  using factor = decltype(factor_of(T()));
  static constexpr unsigned rows = Rows, columns = Columns, depth = Depth, stages = Stages, groups_a_unit = Groups,
                            speed = Speed;
  static constexpr unsigned warps_across = Columns / WarpColumns, warp_rows = WarpRows, warp_columns = WarpColumns,
                            threads = Rows / WarpRows * warps_across * warp_size;
  static constexpr unsigned product_depth = 8, parts = Depth / product_depth;
  static_assert(parts % 2 == 0);  // products take turns with two sets of factors
  static constexpr unsigned down = WarpRows / 16, across = WarpColumns / 8;  // tensor-core products of a warp
  static constexpr unsigned rows_a_step = parts * down;
  // Copies begin while the products of the first three rows run. Starting all copies before the first product is
  // slower.
  static constexpr unsigned copying_rows = rows_a_step > 3 ? 3 : rows_a_step - 1;
  // Lanes that read at the same time, in 4 or 8 rows and 4 columns, use different banks. For doubles of B this needs no
  // padding, so that three groups fit a compute unit.
  static constexpr bool turned = sizeof(T) == 8;
  using a_tile = tile_layout<Rows, Depth, Depth + 4>;
  using b_tile = tile_layout<Depth, Columns, Columns + (turned ? 0 : 8), turned ? 4 : 1>;
  static constexpr unsigned stage_size = a_tile::size + b_tile::size;
  static constexpr unsigned shared_bytes = Stages * stage_size * sizeof(T);
};

template <class S>
struct warp_place {
  unsigned row, column;  // of the warp's part of the tile

  __device__ warp_place() {
    const unsigned warp = threadIdx.x / warp_size;
    row = warp / S::warps_across * S::warp_rows;
    column = warp % S::warps_across * S::warp_columns;
  }
};

/// The elements of A that a lane needs for 16 rows of products, `product_depth` k's each.
template <class S>
struct row_factors {
  typename S::factor at[S::product_depth / 2];

  __device__ void load(const typename S::T* of_lane, unsigned y, unsigned k) {
#pragma unroll
    for (unsigned e = 0; e < S::product_depth / 2; ++e)
      at[e] = factor_of(of_lane[(y * 16 + e % 2 * 8) * S::a_tile::pitch + k + e / 2 * 4]);
  }
};

/// The elements of B that a lane needs for all columns of its warp and `product_depth` k's.
template <class S>
struct column_factors {
  typename S::factor at[S::across][S::product_depth / 4];

  __device__ void load(const typename S::T* even, const typename S::T* odd, unsigned k) {
#pragma unroll
    for (unsigned x = 0; x < S::across; ++x)
#pragma unroll
      for (unsigned e = 0; e < S::product_depth / 4; ++e)
        at[x][e] = factor_of((x % 2 == 0 ? even : odd)[(k + e * 4) * S::b_tile::pitch + x / 2 * 16]);
  }
};

/// Calls f(row of C, column, pair of chains) for each pair of the lane's part of C.
template <class S, class Chains, class F>
__device__ void for_each_pair(const operands<typename S::T>& o, tile_place tile, warp_place<S> me, Chains& chains,
                              F&& f) {
  const unsigned lane = threadIdx.x % warp_size;
#pragma unroll
  for (unsigned y = 0; y < 2 * S::down; ++y) {
    const std::uint64_t i = tile.row + me.row + y * 8 + lane / 4;
    if (i >= o.m) continue;
#pragma unroll
    for (unsigned x = 0; x < S::across; ++x)
      f(o.c + i * o.ldc, tile.column + me.column + x * 8 + lane % 4 * 2, &chains[y / 2][x][y % 2 * 2]);
  }
}

template <class S>
__device__ void store_products(const operands<typename S::T>& o, tile_place tile, warp_place<S> me,
                               const typename S::T (&chains)[S::down][S::across][4]) {
  using T = typename S::T;
  const bool in_pairs = (reinterpret_cast<std::uintptr_t>(o.c) | o.ldc * sizeof(T)) % (2 * sizeof(T)) == 0;
  for_each_pair<S>(o, tile, me, chains, [&](T* row, std::uint64_t column, const T* pair) {
    store_row<2>(row, column, o.n, pair, in_pairs);
  });
}

/// Loads the chains as they were stored, possibly by another group of this launch.
template <class S>
__device__ void load_products(const operands<typename S::T>& o, tile_place tile, warp_place<S> me,
                              typename S::T (&chains)[S::down][S::across][4]) {
  using T = typename S::T;
  for_each_pair<S>(o, tile, me, chains,
                   [&](T* row, std::uint64_t column, T* pair) { load_row<2>(row, column, o.n, pair); });
}

/// Continues the chains by these steps.
template <class S>
__device__ void multiply_steps(const operands<typename S::T>& o, typename S::T* stages, tile_place tile,
                               warp_place<S> me, step_range steps, typename S::T (&chains)[S::down][S::across][4]) {
  using T = typename S::T;
  constexpr unsigned size = sizeof(T), stage_size = S::stage_size * size;
  const unsigned lane = threadIdx.x % warp_size, begin = static_cast<unsigned>(__cvta_generic_to_shared(stages));
  // Addresses in the first stage, in bytes and from a value that is kept: each step then takes one addition.
  const unsigned of_rows = keep(begin + size * S::a_tile::at(me.row + lane / 4, lane % 4));
  const auto of_columns = [&](unsigned x) {
    return keep(begin + size * (S::a_tile::size + S::b_tile::at(lane % 4, me.column + x * 8 + lane / 4)));
  };
  const unsigned of_even = of_columns(0), of_odd = of_columns(1);
  const auto at = [](unsigned address) { return static_cast<const T*>(__cvta_shared_to_generic(address)); };
  tile_copies<S> copies(o, tile, steps);
  for (unsigned stage = 0; stage + 1 < S::stages; ++stage) {
    copies.template start<0, 1>(stages + stage * S::stage_size);
    copies.close();
  }
  wait_for_copies<S::stages - 2>();
  __syncthreads();  // the first stage is loaded

  row_factors<S> rows[2];  // one set is multiplied while the other is read
  column_factors<S> columns[2];
  rows[0].load(at(of_rows), 0, 0);
  columns[0].load(at(of_even), at(of_odd), 0);
  unsigned now = 0, into = (S::stages - 1) * stage_size;  // where these stages begin, from the first
  for (unsigned step = steps.first; step < steps.last; ++step)
    unrolled<0, S::rows_a_step>([&]<unsigned Row>() {
      constexpr unsigned part = Row / S::down, y = Row % S::down;
      constexpr unsigned next = (Row + 1) % S::rows_a_step, next_y = next % S::down, next_part = next / S::down;
      if constexpr (Row < S::copying_rows) copies.template start<Row, S::copying_rows>(stages + into / size);
      const auto multiply = [&](unsigned from, unsigned to) {
#pragma unroll
        for (unsigned x = from; x < to; ++x) multiply_tiles(chains[y][x], rows[Row % 2].at, columns[part % 2].at[x]);
      };
      constexpr unsigned before = next == 0 ? 0 : S::across / 2;
      multiply(0, before);
      if constexpr (next == 0) {
        copies.close();
        into = now;
        now = now + stage_size == S::stages * stage_size ? 0 : now + stage_size;
        wait_for_copies<S::stages - 2>();
        __syncthreads();  // the next stage is loaded, and this one is no longer used
      }
      rows[next % 2].load(at(of_rows + now), next_y, next_part * S::product_depth);
      if constexpr (next_y == 0)
        columns[next_part % 2].load(at(of_even + now), at(of_odd + now), next_part * S::product_depth);
      multiply(before, S::across);
    });
}

template <class S>
__global__ void __launch_bounds__(S::threads, S::groups_a_unit) tensor_tiles(const operands<typename S::T> o) {
  using T = typename S::T;
  extern __shared__ __align__(128) unsigned char bytes[];
  T* const stages = reinterpret_cast<T*>(bytes);
  const tile_place tile = place_of(o, S::rows, S::columns);
  const warp_place<S> me;
  T chains[S::down][S::across][4]{};
  step_range steps = steps_of<S>(o);
  steps.last = keep(steps.last);  // without this, each step of the smaller tiles takes up to 17 more instructions
  multiply_steps<S>(o, stages, tile, me, steps, chains);
  store_products<S>(o, tile, me, chains);
}

template <class S>
__global__ void __launch_bounds__(S::threads, S::groups_a_unit)
    shared_tensor_tiles(const operands<typename S::T> o, const shares all) {
  using T = typename S::T;
  // `share` uses shared memory too. When stages began 16 bytes after it, products took 1.5 times as long.
  extern __shared__ __align__(128) unsigned char bytes[];
  T* const stages = reinterpret_cast<T*>(bytes);
  const warp_place<S> me;
  using held = T[S::down][S::across][4];
  make_share<S, held>(
      o, all, [&](const tile_place& tile, held& chains) { load_products<S>(o, tile, me, chains); },
      [&](const tile_place& tile, const piece& p, held& chains) {
        multiply_steps<S>(o, stages, tile, me, steps_of<S>(o, p.first, p.last), chains);
      },
      [&](const tile_place& tile, held& chains) { store_products<S>(o, tile, me, chains); });
}

/// Launches one of `Shapes`: the one that the axis value `tile` names, or the one that suits the size of C.
template <class Shapes>
void run_tensor_tiles(const registry::problem& p, const registry::bindings& where, unsigned tile,
                      backend::cuda::queue& q) {
  Shapes::with(Shapes::choose(sizes(p), tile, q.device()), [&]<class S>(S) {
    const operands<typename S::T> o(p, where);
    const auto allow = [](auto kernel) {
      TW_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, S::shared_bytes));
    };
    if constexpr (shared_shape<S>) {
      allow(shared_tensor_tiles<S>);
      const shares all = shares::of<S>(o, q);
      shared_tensor_tiles<S><<<all.groups, S::threads, S::shared_bytes, q.stream()>>>(o, all);
    } else {
      allow(tensor_tiles<S>);
      const auto groups = static_cast<unsigned>(tiles_of(o, S::rows, S::columns));
      tensor_tiles<S><<<groups, S::threads, S::shared_bytes, q.stream()>>>(o);
    }
    TW_CUDA(cudaGetLastError());
  });
}

}  // namespace tilewise::impl::matmul
