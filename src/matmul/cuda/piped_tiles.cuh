// SPDX-License-Identifier: Apache-2.0
// What:   a group computes a tile of C; a thread holds several rows and columns of it in registers. Tiles of A and B
//         are copied straight to shared memory, two steps ahead. This saves registers and instructions, so few warps
//         are enough.
// Order:  one chain per element. One thread computes it or, if a tile is shared by two groups, one thread of each.
// Shape:  a warp is 4 threads down by 8 across; one barrier per step of 32 k's. A thread reads four k's of a row of A
//         at once, of B four columns.
// Limits: elements of 4 bytes; compute capability 8.0; shared memory for the stages; fewer than 2^32 steps.
// Twins:  serial.cpp, register_tiles.cuh.
#pragma once

#include "matmul/cuda/register_tiles.cuh"

namespace tilewise::impl::matmul {

/// Rows x Columns of C for a group, ThreadRows x ThreadColumns for a thread.
template <class T_, unsigned Speed, unsigned Rows, unsigned Columns, unsigned ThreadRows, unsigned ThreadColumns,
          unsigned Groups>
struct piped_shape {
  using T = T_;
  static constexpr unsigned rows = Rows, columns = Columns, thread_rows = ThreadRows, thread_columns = ThreadColumns,
                            groups_a_unit = Groups, speed = Speed;
  static constexpr unsigned warp_rows = 4 * ThreadRows, warp_columns = 8 * ThreadColumns,
                            warps_across = Columns / warp_columns,
                            threads = Rows / warp_rows * warps_across * warp_size;
  static constexpr unsigned unit_rows = 1, unit_columns = pack_length<T>;
  static constexpr bool lanes_in_pairs = true;
  static constexpr unsigned depth = 32, stages = 3;
  // A row is a cache line, which one copy reads. Its packs are ordered so that packs of one k are in different banks.
  using a_tile = tile_layout<Rows, depth, depth, 8>;
  using b_tile = tile_layout<depth, Columns, Columns>;
  static constexpr unsigned stage_size = a_tile::size + b_tile::size, shared_bytes = stages * stage_size * sizeof(T);
};

template <class S>
concept piped = requires {
  S::stages;
};

/// Where a thread's factors lie in shared memory.
template <class S>
class factor_place {
  using T = typename S::T;
  static constexpr unsigned size = sizeof(T), length = pack_length<T>;

 public:
  __device__ factor_place(const T* stages, thread_place<S> me) {
    const auto begin = static_cast<unsigned>(__cvta_generic_to_shared(stages));
    for (unsigned odd = 0; odd < 2; ++odd) rows_[odd] = keep(begin + size * S::a_tile::at(me.row + 4 * odd, 0));
    columns_ = keep(begin + size * (S::a_tile::size + me.column));
  }

  /// A pack of row r, from k = part * length on, in the stage that begins `stage` bytes after the first.
  __device__ pack<T> row(unsigned stage, unsigned r, unsigned part) const {
    return read((rows_[r % 2] + stage ^ part * length * size) + r / 2 * 8 * S::a_tile::pitch * size);
  }
  __device__ void columns(unsigned stage, unsigned k, T (&to)[S::thread_columns]) const {
#pragma unroll
    for (unsigned c = 0; c < S::thread_columns; c += length) {
      const pack<T> read_now = read(columns_ + stage + (k * S::b_tile::pitch + c * 8) * size);
#pragma unroll
      for (unsigned e = 0; e < length; ++e) to[c + e] = read_now.at[e];
    }
  }

 private:
  /// Reads by inline PTX: nvcc 13.0 does not terminate if pointers are made from such addresses.
  __device__ static pack<T> read(unsigned address) {
    uint4 bits;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(bits.x), "=r"(bits.y), "=r"(bits.z), "=r"(bits.w)
                 : "r"(address));
    return __builtin_bit_cast(pack<T>, bits);
  }

  unsigned rows_[2], columns_;  // rows_: addresses of even and of odd rows
};

/// Continues the chains by these steps.
template <class S>
__device__ void multiply_steps(const operands<typename S::T>& o, typename S::T* stages, tile_place tile,
                               thread_place<S> me, step_range steps,
                               typename S::T (&chains)[S::thread_rows][S::thread_columns]) {
  using T = typename S::T;
  constexpr unsigned size = sizeof(T), stage_size = S::stage_size * size, length = pack_length<T>;
  const factor_place<S> factors(stages, me);
  tile_copies<S> copies(o, tile, steps);
  for (unsigned stage = 0; stage + 1 < S::stages; ++stage) {
    copies.template start<0, 1>(stages + stage * S::stage_size);
    copies.close();
  }
  wait_for_copies<S::stages - 2>();
  __syncthreads();  // the first stage is loaded

  pack<T> rows[2][S::thread_rows];  // one set is multiplied while the other is read
  T columns[2][S::thread_columns];
#pragma unroll
  for (unsigned r = 0; r < S::thread_rows; ++r) rows[0][r] = factors.row(0, r, 0);
  factors.columns(0, 0, columns[0]);
  unsigned now = 0, next = stage_size, into = (S::stages - 1) * stage_size;  // where these stages begin, from the first
  for (unsigned step = steps.first; step < steps.last; ++step) {
    unrolled<0, S::depth>([&]<unsigned K>() {
      constexpr unsigned part = K / length, e = K % length;
      constexpr bool is_last_part = K >= S::depth - length;
      if constexpr (is_last_part) {
        if constexpr (e == 0) {
          wait_for_copies<S::stages - 3>();
          __syncthreads();  // the next stage is loaded, and the previous one is no longer used
        }
        copies.template start<e, length>(stages + into / size);
      }
      factors.columns(K + 1 == S::depth ? next : now, (K + 1) % S::depth, columns[(K + 1) % 2]);
#pragma unroll
      for (unsigned r = e * S::thread_rows / length; r < (e + 1) * S::thread_rows / length; ++r)
        rows[(part + 1) % 2][r] = factors.row(is_last_part ? next : now, r, (part + 1) % (S::depth / length));
      T a[S::thread_rows];
#pragma unroll
      for (unsigned r = 0; r < S::thread_rows; ++r) a[r] = rows[part % 2][r].at[e];
      multiply<S>(a, columns[K % 2], chains);
    });
    copies.close();
    into = now;
    now = next;
    next = next + stage_size == S::stages * stage_size ? 0 : next + stage_size;
  }
}

template <class S>
__global__ void __launch_bounds__(S::threads, S::groups_a_unit) piped_tiles(const operands<typename S::T> o) {
  using T = typename S::T;
  extern __shared__ __align__(128) unsigned char bytes[];
  T* const stages = reinterpret_cast<T*>(bytes);
  const tile_place tile = place_of(o, S::rows, S::columns);
  const thread_place<S> me;
  T chains[S::thread_rows][S::thread_columns]{};
  multiply_steps<S>(o, stages, tile, me, steps_of<S>(o), chains);
  store_chains<S>(o, tile, me, chains);
}

template <class S>
__global__ void __launch_bounds__(S::threads, S::groups_a_unit)
    shared_piped_tiles(const operands<typename S::T> o, const shares all) {
  using T = typename S::T;
  extern __shared__ __align__(128) unsigned char bytes[];
  T* const stages = reinterpret_cast<T*>(bytes);
  const thread_place<S> me;
  using held = T[S::thread_rows][S::thread_columns];
  make_share<S, held>(
      o, all, [&](const tile_place& tile, held& chains) { load_chains<S>(o, tile, me, chains); },
      [&](const tile_place& tile, const piece& p, held& chains) {
        multiply_steps<S>(o, stages, tile, me, steps_of<S>(o, p.first, p.last), chains);
      },
      [&](const tile_place& tile, held& chains) { store_chains<S>(o, tile, me, chains); });
}

}  // namespace tilewise::impl::matmul
