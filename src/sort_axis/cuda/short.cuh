// SPDX-License-Identifier: Apache-2.0
// What:   sorts lines of up to a tile of the merge sort, several lines in one group.
// Order:  by code (sort/code.hpp).
// Shape:  up to 16 elements: one thread sorts a line, by a network in registers; rows are staged in memory order. More
//         elements: a power of two of lanes, as many as hold the line, sort their elements and merge them.
// Limits: columns lie side by side in a tile, so a tile has only a few long columns.
// Twins:  opencl/lines.cl, opencl/short.cl.
#pragma once

#include "reduce_axis/cuda/tile.cuh"
#include "sort_axis/cuda/job.cuh"

#include <bit>
#include <type_traits>

namespace tilewise::impl::sort_axis::on_cuda {

// A thread's lines

template <class Bits>
struct staged_lines {
  job<Bits> all;
  reduce_axis::tile_shape shape;
};

/// A line of at most Length elements; `from(i)` and `to(i)` are where they lie and go.
template <unsigned Length, class Bits, class From, class To>
__device__ void sort_line(const sort::sort_code<Bits>& code, unsigned count, const From& from, const To& to) {
  sort::on_cuda::held_elements<Bits, nothing, Length> own;
#pragma unroll
  for (unsigned i = 0; i < Length; ++i) own.key[i] = i < count ? code.encode(from(i)) : ~Bits{0};
  sort::on_cuda::sort_held(own);
#pragma unroll
  for (unsigned i = 0; i < Length; ++i)
    if (i < count) to(i) = code.decode(own.key[i]);
}

template <unsigned Length, class Bits>
__global__ void __launch_bounds__(reduce_axis::group_size)
    sort_lines_of_threads(const __grid_constant__ staged_lines<Bits> w) {
  using namespace reduce_axis;
  __shared__ Bits stage[stage_places<Bits>];
  const job<Bits>& j = w.all;
  const tile_place p(w.shape, j.from, blockIdx.x);
  if (w.shape.by_rows) {
    load_stage(w.shape, j.from, p, j.in, stage);
    for (unsigned l = threadIdx.x; l < p.present; l += group_size) {
      const auto place_of = [&](unsigned i) -> Bits& { return stage[place<Bits>(l * w.shape.pitch + i)]; };
      sort_line<Length>(j.code, p.length, place_of, place_of);
    }
    store_stage(w.shape, j.to, p, stage, j.out);
  } else {
#pragma unroll 2
    for (unsigned l = threadIdx.x; l < p.present; l += group_size) {
      const Bits* const from = p.in(j.in, j.from) + l;
      Bits* const to = p.in(j.out, j.to) + l;
      sort_line<Length>(
          j.code, p.length, [&](unsigned i) { return from[i * j.from.element]; },
          [&](unsigned i) -> Bits& { return to[i * j.to.element]; });
    }
  }
}

/// Lines of at most reduce_axis::items elements.
template <class Bits>
void sort_shortest(const job<Bits>& j, bool by_rows, bool is_packed, queue& q) {
  const reduce_axis::tile_shape shape = reduce_axis::shape_for(j.from, by_rows, is_packed);
  const auto kernel = j.from.length <= 4   ? sort_lines_of_threads<4, Bits>
                      : j.from.length <= 8 ? sort_lines_of_threads<8, Bits>
                                           : sort_lines_of_threads<reduce_axis::items, Bits>;
  const auto groups = static_cast<unsigned>(shape.groups_for(j.from));
  kernel<<<groups, reduce_axis::group_size, 0, q.stream()>>>(staged_lines<Bits>{j, shape});
  TW_CUDA(cudaGetLastError());
}

// Several lanes' lines

/// Lanes that hold a line.
template <class Bits>
unsigned lanes_for(std::uint64_t length) {
  return std::bit_ceil(static_cast<unsigned>(ceil_div(length, std::uint64_t{tile<Bits>::held})));
}
template <class Bits>
bool fits_a_tile(std::uint64_t length) {
  return length <= tile<Bits>::room;
}
/// Whether columns that lie side by side in a tile fill whole sectors of memory.
template <class Bits>
bool fills_sectors(std::uint64_t length) {
  return fits_a_tile<Bits>(length) && tile<Bits>::group_size / lanes_for<Bits>(length) * sizeof(Bits) >= 32;
}

template <class Bits>
struct lines_of_lanes {
  job<Bits> all;
  unsigned lanes;       // lanes of a line
  unsigned reciprocal;  // 2^32 / length, rounded up: dividing places in a tile by it is exact
};

/// Calls move(slot, line, element) for the elements of the lines that are present, in the order in which they lie in
/// memory.
template <bool ByRows, class Tile, class Bits, class F>
__device__ void for_each_element(const lines_of_lanes<Bits>& w, unsigned present, const F& move) {
  const unsigned length = static_cast<unsigned>(w.all.from.length), lines = Tile::group_size / w.lanes;
  const unsigned log_lines = 31 - static_cast<unsigned>(__clz(static_cast<int>(lines)));
#pragma unroll 4
  for (unsigned i = threadIdx.x; i < (ByRows ? present : lines) * length; i += Tile::group_size) {
    const unsigned l = ByRows ? __umulhi(i, w.reciprocal) : i & (lines - 1);
    const unsigned e = ByRows ? i - l * length : i >> log_lines;
    if (ByRows || l < present) move(l * w.lanes * Tile::held + e, l, e);
  }
}

template <bool ByRows, class Tile, class Bits>
__global__ void __launch_bounds__(Tile::group_size, groups<Tile>)
    sort_lines_of_lanes(const __grid_constant__ lines_of_lanes<Bits> w) {
  __shared__ Tile sorted;
  const job<Bits>& j = w.all;
  const unsigned lines = Tile::group_size / w.lanes;
  const std::uint64_t first = std::uint64_t{blockIdx.x} * lines, left = j.from.count - first;
  const unsigned present = left < lines ? static_cast<unsigned>(left) : lines;
  const Bits* const in = j.in + first * j.from.line;
  Bits* const out = j.out + first * j.to.line;
#pragma unroll
  for (unsigned r = 0; r < Tile::held; ++r)  // the greatest codes stay after a line's end
    sorted.keys()[threadIdx.x + r * Tile::group_size] = ~Bits{0};
  __syncthreads();  // the tile is filled
  for_each_element<ByRows, Tile>(w, present, [&](unsigned slot, unsigned l, unsigned e) {
    sorted.keys()[slot] = j.code.encode(in[l * j.from.line + e * j.from.element]);
  });
  __syncthreads();  // the lines are loaded
  sort::on_cuda::sort_tile(sorted, w.lanes);
  __syncthreads();  // and sorted
  for_each_element<ByRows, Tile>(w, present, [&](unsigned slot, unsigned l, unsigned e) {
    out[l * j.to.line + e * j.to.element] = j.code.decode(sorted.keys()[slot]);
  });
}

/// Calls use(std::type_identity<Tile>) with the tile whose lanes hold the fewest keys, but at least `each`.
template <class Bits, class Use>
void with_tile(std::uint64_t each, const Use& use) {
  constexpr unsigned most = tile<Bits>::held, less = most / 4;
  const auto with = [&]<unsigned Held> { use(std::type_identity<sort::on_cuda::merge_tile<Bits, nothing, Held>>{}); };
  if (each <= most - 2 * less) return with.template operator()<most - 2 * less>();
  if (each <= most - less) return with.template operator()<most - less>();
  with.template operator()<most>();
}

/// Lines of more than one element that fit a tile.
template <bool ByRows, class Bits>
void sort_in_tiles(const job<Bits>& j, queue& q) {
  const unsigned lanes = lanes_for<Bits>(j.from.length);
  const auto reciprocal = static_cast<unsigned>(~0u / static_cast<unsigned>(j.from.length) + 1);
  with_tile<Bits>(ceil_div(j.from.length, std::uint64_t{lanes}), [&]<class Tile>(std::type_identity<Tile>) {
    const auto groups = static_cast<unsigned>(ceil_div(j.from.count, std::uint64_t{Tile::group_size / lanes}));
    sort_lines_of_lanes<ByRows, Tile, Bits>
        <<<groups, Tile::group_size, 0, q.stream()>>>(lines_of_lanes<Bits>{j, lanes, reciprocal});
  });
  TW_CUDA(cudaGetLastError());
}

}  // namespace tilewise::impl::sort_axis::on_cuda
