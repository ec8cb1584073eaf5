// SPDX-License-Identifier: Apache-2.0
// What:   the kernel of diffuse/cuda:resident: what groups send each other, a warp's rows, and a tile's rounds.
// Order:  shared.cuh.
// Shape:  resident.cu.
// Limits: all groups must run at once.
// Twins:  serial.cpp, registers.cuh.
#pragma once

#include "backend/cuda/packet.cuh"
#include "diffuse/cuda/rows.cuh"

namespace tilewise::impl::diffuse {

/// In one direction: where a tile begins, and which part of the field it owns. Tiles have one size and overlap evenly.
struct extent {
  int origin, begin, end;
  int low, high;  // the range of its own part and a halo around it

  __device__ static int origin_of(int index, int count, int length, int size) {
    return count == 1 ? 0 : static_cast<int>(std::int64_t{index} * (length - size) / (count - 1));
  }
  __device__ extent(int index, int count, int length, int size, int halo)
      : origin(origin_of(index, count, length, size)),
        begin(index == 0 ? 0 : origin + halo),
        end(index + 1 == count ? length : origin_of(index + 1, count, length, size) + halo),
        low(max(0, begin - halo)),
        high(min(length, end + halo)) {}
  __device__ bool owns(int at) const { return at >= begin && at < end; }
  __device__ bool reaches(int at) const { return at >= low && at < high; }
  __device__ bool is_near_side(int at, int halo) const { return at < begin + halo || at >= end - halo; }
};

/// The size of shared memory before the list of the halo: each warp's first and last rows in two copies, or the tile.
constexpr std::size_t room_bytes(unsigned radius, unsigned rows, unsigned width, std::size_t element, unsigned warps) {
  return std::size_t{4 * radius > rows ? 4 * radius : rows} * warps * width * element;
}

/// A warp's rows of a tile. A ragged one reaches beyond the field.
template <class T, mask Mask, int Columns, int Rows, bool Ragged>
struct resident_rows : tile_rows<T, Mask, Columns, Rows> {
  using held = tile_rows<T, Mask, Columns, Rows>;
  using held::f, held::i, held::j, held::radius, held::values;
  static_assert(Rows * Columns <= 32);

  unsigned strip;  // a bit for each element: whether it is in a strip of the field

  __device__ __forceinline__ void load(const T* from) {
#pragma unroll
    for (int k = 0; k < Rows; ++k)
#pragma unroll
      for (int v = 0; v < Columns; ++v) {
        const std::int64_t row = f.within(j + k, f.rows), column = f.within(i + v, f.columns);
        values[k][v] = f.in_strip(row, column) ? T(1) : __ldg(from + row * f.columns + column);
        if (f.in_strip(j + k, i + v)) strip |= 1u << (k * Columns + v);
      }
  }

  /// Beyond the field there is a copy of the row before; also beyond the tile, where rows are used up anyway.
  template <class Sums>
  __device__ __forceinline__ void next_row(int side, int k, T (&wide)[Sums::width]) const {
    T coming[Sums::width];
    Sums::widen(this->row_at(side, k).values, coming);
#pragma unroll
    for (int c = 0; c < Sums::width; ++c) {
      if (Ragged && c > radius && i + c - radius >= f.columns) coming[c] = coming[c - 1];
      if (!Ragged || k < 0 || j + k < f.rows) wide[c] = coming[c];
    }
  }

  template <mask Form>
  __device__ __forceinline__ void step(int side, bool is_last) {
    using sums_type = row_sums<T, Form, Columns>;
    this->template step_rows<Form>(
        [&](int k, T(&wide)[sums_type::width]) { this->template next_row<sums_type>(side, k, wide); });
    if (is_last) return;
    set_strips();
    this->share(1 - side);
  }

  /// Takes as many steps as the halo allows. All threads of the group must agree on the form.
  template <mask Form>
  __device__ __forceinline__ void steps(unsigned count, bool with_last) {
    int side = 0;
    for (unsigned step = 0; step < count; ++step, side = 1 - side) {
      if (step != 0) __syncthreads();
      this->template step<Form>(side, with_last && step + 1 == count);
    }
  }

  __device__ __forceinline__ void set_strips() {
    if (strip == 0) return;
#pragma unroll
    for (int k = 0; k < Rows; ++k)
#pragma unroll
      for (int v = 0; v < Columns; ++v)
        if ((Ragged || v == 0 || v == Columns - 1) && (strip >> (k * Columns + v) & 1) != 0) values[k][v] = 1;
  }
};

/// Lists where the halo's elements lie: the rows above, the rows below, then the elements to the left and to the right
/// of the tile's own rows.
__device__ __forceinline__ int list_halo(const extent& x, const extent& y, ushort2* list) {
  const int across = x.high - x.low, above = y.begin - y.low, outer = (above + y.high - y.end) * across;
  const int left = x.begin - x.low, beside = left + x.high - x.end;
  const int count = outer + beside * (y.end - y.begin);
  for (int e = static_cast<int>(threadIdx.x); e < count; e += static_cast<int>(blockDim.x)) {
    int row, column;
    if (e < outer) {
      row = e / across < above ? y.low + e / across : y.end + e / across - above;
      column = x.low + e % across;
    } else {
      const int c = (e - outer) % beside;
      row = y.begin + (e - outer) / beside;
      column = c < left ? x.low + c : x.end + c - left;
    }
    list[e] = ushort2{static_cast<unsigned short>(column), static_cast<unsigned short>(row)};
  }
  return count;
}

/// Sends the elements of the tile's own part that neighbours need.
template <class Rows, class T>
__device__ __forceinline__ void send_frame(const Rows& mine, const extent& x, const extent& y, int halo,
                                           packet<T>* fields, unsigned round) {
  const int columns = static_cast<int>(mine.f.columns);
#pragma unroll
  for (int k = 0; k < Rows::rows; ++k)
#pragma unroll
    for (int v = 0; v < Rows::columns; ++v) {
      const int column = mine.i + v, row = mine.j + k;
      if (x.owns(column) && y.owns(row) && (x.is_near_side(column, halo) || y.is_near_side(row, halo)))
        send(fields + row * columns + column, mine.values[k][v], round);
    }
}

/// Waits for the halo's elements and puts them into the tile in shared memory.
template <class T>
__device__ __forceinline__ void receive_halo(const extent& x, const extent& y, const ushort2* list, int count,
                                             const packet<T>* fields, int columns, unsigned round, T* tile, int width) {
  constexpr int at_once = 4;
  for (int first = static_cast<int>(threadIdx.x); first < count; first += at_once * static_cast<int>(blockDim.x)) {
    packet<T> packets[at_once]{};
    ushort2 where[at_once];
    bool is_wanted[at_once];
#pragma unroll
    for (int n = 0; n < at_once; ++n) {
      const int e = first + n * static_cast<int>(blockDim.x);
      is_wanted[n] = e < count;
      where[n] = list[is_wanted[n] ? e : 0];
    }
    bool is_waiting;
    do {
      is_waiting = false;
#pragma unroll
      for (int n = 0; n < at_once; ++n)
        receive_if(is_wanted[n], packets[n], fields + where[n].y * columns + where[n].x);
#pragma unroll
      for (int n = 0; n < at_once; ++n) is_waiting |= is_wanted[n] && !packets[n].is_of(round);
    } while (is_waiting);
#pragma unroll
    for (int n = 0; n < at_once; ++n)
      if (is_wanted[n]) tile[(where[n].y - y.origin) * width + where[n].x - x.origin] = packets[n].value();
  }
}

/// Loads the halo's elements from the tile in shared memory into registers.
template <class T, class Rows>
__device__ __forceinline__ void take_halo(Rows& mine, const extent& x, const extent& y, const T* tile) {
#pragma unroll
  for (int k = 0; k < Rows::rows; ++k)
#pragma unroll
    for (int v = 0; v < Rows::columns; ++v) {
      const int column = mine.i + v, row = mine.j + k;
      if (x.reaches(column) && y.reaches(row) && !(x.owns(column) && y.owns(row)))
        mine.values[k][v] = tile[(mine.warp * Rows::rows + k) * Rows::width + mine.lane * Rows::columns + v];
    }
}

template <class T>
struct exchange_fields {
  packet<T>* side[2];
};

template <class T, mask Mask, int Columns, int Rows, int Warps, bool Ragged>
__global__ void __launch_bounds__(Warps* warp_size, 1)
    stay_resident(const T* from, T* to, const __grid_constant__ field<T> f, exchange_fields<T> exchange, unsigned steps,
                  unsigned depth) {
  using rows_type = resident_rows<T, Mask, Columns, Rows, Ragged>;
  constexpr int width = rows_type::width;
  extern __shared__ __align__(16) unsigned char room[];
  const int halo = static_cast<int>(depth) * rows_type::radius;
  const int lane = static_cast<int>(threadIdx.x) % rows_type::lanes, warp = static_cast<int>(warp_of_group());
  const int warps = static_cast<int>(blockDim.x) / rows_type::lanes, height = warps * Rows;
  const int columns = static_cast<int>(f.columns);
  const extent x(static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x), columns, width, halo);
  const extent y(static_cast<int>(blockIdx.y), static_cast<int>(gridDim.y), static_cast<int>(f.rows), height, halo);
  auto* const list = reinterpret_cast<ushort2*>(room + room_bytes(rows_type::radius, Rows, width, sizeof(T), warps));
  auto* const edges = reinterpret_cast<lane_row<T, Columns>*>(room);  // alternates with
  T* const tile = reinterpret_cast<T*>(room);                         // the halo as it came
  rows_type mine{{f, edges, warp, warps, lane, x.origin + lane * Columns, y.origin + warp * Rows, {}}, 0};
  mine.load(from);
  mine.share(0);
  const int count = list_halo(x, y, list);
  unsigned left = steps;
  for (unsigned round = 1;; ++round) {
    const unsigned now = left < depth ? left : depth;
    if constexpr (Mask == mask::five_points) {
      const bool is_too_large = __syncthreads_or(!f.can_scale || mine.is_any_huge()) != 0;
      is_too_large ? mine.template steps<Mask>(now, now == left)
                   : mine.template steps<quick_form(Mask)>(now, now == left);
    } else {
      __syncthreads();
      mine.template steps<Mask>(now, now == left);
    }
    left -= now;
    if (left == 0) break;
    packet<T>* const fields = exchange.side[round % 2];
    send_frame(mine, x, y, halo, fields, round);
    __syncthreads();  // the rows that warps shared are read
    receive_halo(x, y, list, count, fields, columns, round, tile, width);
    __syncthreads();
    take_halo(mine, x, y, tile);
    __syncthreads();
    mine.share(0);
  }
#pragma unroll
  for (int k = 0; k < Rows; ++k)
#pragma unroll
    for (int v = 0; v < Columns; ++v)
      if (x.owns(mine.i + v) && y.owns(mine.j + k))
        to[(mine.j + k) * columns + mine.i + v] = order::canonical(mine.values[k][v]);
}

}  // namespace tilewise::impl::diffuse
