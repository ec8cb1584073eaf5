// SPDX-License-Identifier: Apache-2.0
// What:   the first and the last pass of a number-theoretic transform whose blocks are divided among several devices.
//         The first converts the coefficients of all devices to residues of one block. The last converts the residues
//         of all blocks to coefficients.
// Order:  none: exact.
// Shape:  as ntt_columns.cuh. A device reads each value of another device only once: the residues of a tile stay in
//         shared memory until all fields are done.
// Limits: arrays of 16 parts, 8 blocks; 52 KB of shared memory, 101 KB for six fields.
// Twins:  none.
#pragma once

#include "polymul/cuda/ntt_columns.cuh"
#include "polymul/ntt_blocks.hpp"

namespace tilewise::impl::polymul {

/// An array whose parts lie on several devices.
template <class T>
struct scattered {
  T* part[most_parts];
  std::uint64_t end[most_parts];  // the end of each part, counted from the beginning of the array

  explicit scattered(std::span<const backend::memory> parts) : part{}, end{} {
    std::uint64_t before = 0;
    for (std::size_t k = 0; k < parts.size(); ++k) {
      part[k] = parts[k].as<T>();
      end[k] = before += parts[k].bytes / sizeof(T);
    }
  }

  /// The address of element `index`, which must exist.
  __device__ T* at(std::uint64_t index) const {
    unsigned k = 0;
    std::uint64_t begin = 0;
    while (index >= end[k]) begin = end[k++];
    return part[k] + (index - begin);
  }
  __device__ T& operator[](std::uint64_t index) const { return *at(index); }
};

template <class T>
struct scattered_factors {
  scattered<const T> of[2];
  std::uint64_t length[2];
};

/// The shared memory of folded_columns. The tile that a field exchanges overlaps its residues and the end of those
/// before it, which are no longer used.
struct folded_memory {
  static constexpr unsigned padding = sizeof(column_memory::tile) / sizeof(word) - tile_points;

  word_factor roots[column_nodes], power[most_words];  // power: x^n modulo the block, for each field
  word words[];

  __device__ word* tile(unsigned field) { return words + field * tile_points; }
  __device__ word* residues(unsigned field) { return tile(field) + padding; }
  static constexpr unsigned bytes(unsigned fields) {
    return static_cast<unsigned>(sizeof(folded_memory) + (padding + fields * tile_points) * sizeof(word));
  }
};

/// x^n modulo block `block`, which has n coefficients.
__device__ inline word_factor power_modulo(const ntt_work& work, unsigned field, unsigned block) {
  const word_field& f = work.fields.at[field];
  const word_factor root = work.root(field, 0, block / 2);
  return block % 2 == 0 ? root : factor_of_form(f.p - form_of_factor(root, f.p), f);
}

/// Loads the coefficients of a tile, `first` elements further on. All loads are started before the first value is used.
template <class T, bool Modular>
__device__ __forceinline__ void load_tile(std::conditional_t<Modular, std::int64_t, T> (&value)[rows],
                                          const scattered<const T>& from, std::uint64_t length, std::uint64_t first,
                                          const column_tile<narrow_columns>& tile, std::uint64_t modulus) {
  const T* place[rows];
#pragma unroll
  for (unsigned i = 0; i < rows; ++i)
    place[i] = first + tile.early(i) < length ? from.at(first + tile.early(i)) : nullptr;
#pragma unroll
  for (unsigned i = 0; i < rows; ++i) value[i] = place[i] == nullptr ? T{0} : *place[i];
  if constexpr (Modular)
#pragma unroll
    for (unsigned i = 0; i < rows; ++i) value[i] = static_cast<std::int64_t>(residue(value[i], modulus));
}

/// Group (tile, factor): converts coefficients to residues modulo block `block`, by Horner's rule for powers of x^n,
/// and computes eight levels.
template <class T, bool Modular>
__global__ void __launch_bounds__(group_size, 3)
    folded_columns(const __grid_constant__ ntt_work work, const __grid_constant__ scattered_factors<T> factors,
                   std::uint64_t modulus, unsigned block) {
  extern __shared__ __align__(16) unsigned char bytes[];
  auto& here = *reinterpret_cast<folded_memory*>(bytes);
  const column_tile<narrow_columns> tile(blockIdx.x, work.points() / column_nodes);
  const std::uint64_t length = factors.length[blockIdx.y];
  const auto pieces = static_cast<unsigned>((length + work.points() - 1) >> work.log);
  if (threadIdx.x < work.used) here.power[threadIdx.x] = power_modulo(work, threadIdx.x, block);
  __syncthreads();  // the powers are there
  for (unsigned piece = pieces; piece-- != 0;) {
    std::conditional_t<Modular, std::int64_t, T> value[rows];
    load_tile<T, Modular>(value, factors.of[blockIdx.y], length, std::uint64_t{piece} << work.log, tile, modulus);
#pragma unroll 1
    for (unsigned k = 0; k < work.used; ++k) {
      const word_field& f = work.fields.at[k];
#pragma unroll
      for (unsigned i = 0; i < rows; ++i) {
        word& sum = here.residues(k)[i * group_size + threadIdx.x];
        const word own = lower(residue_of(value[i], f), f.twice);
        sum = piece + 1 == pieces ? own : own + times(sum, here.power[k], f.p);
      }
    }
  }
#pragma unroll 1
  for (unsigned k = 0; k < work.used; ++k) {
    narrow_columns::words x;
#pragma unroll
    for (unsigned i = 0; i < rows; ++i) x[0][i] = here.residues(k)[i * group_size + threadIdx.x];
    __syncthreads();  // all have used the roots and the tile
    load_roots<column_nodes>(here.roots, work, k, 0, block);
    columns_down(x, here.roots, here.tile(k), tile, 0, work.fields.at[k]);
    word* const to = work.residues(blockIdx.y, k);
#pragma unroll
    for (unsigned i = 0; i < rows; ++i) to[tile.late(i)] = x[0][i];
  }
}

/// Where last_columns reads the residues of all blocks, and where it writes one device's share of the coefficients.
struct scattered_product {
  scattered<std::int64_t> c;
  std::uint64_t length;
  unsigned first_tile, log_block;
  const word* block[most_blocks];

  /// A pointer p such that p[index] is the residue at `index` of the whole product.
  __device__ const word* residues(const ntt_work&, unsigned field, std::uint64_t index) const {
    const std::uint64_t number = index >> log_block;
    return block[number] + (std::uint64_t{field} << log_block) - (number << log_block);
  }
};

}  // namespace tilewise::impl::polymul
