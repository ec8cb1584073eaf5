// SPDX-License-Identifier: Apache-2.0
// What:   several steps per pass: a warp streams down a strip of columns in registers.
// Order:  shared.cuh.
// Shape:  a lane holds `Columns` neighbouring columns of a few rows of each level. With each row that comes in, each
//         level steps the row that has just become complete; neighbours beyond the lane come by shuffles. Rows are
//         requested some rows ahead, and wait in shared memory. Warps share nothing: a strip is wider than its output
//         by one radius per step on each side, and a band of rows is higher in the same way.
// Limits: the registers that the levels need grow with Depth; a field must be at least as wide as a strip.
// Twins:  serial.cpp, cpu/variants.cpp.
#pragma once

#include "backend/cuda/copy.cuh"
#include "diffuse/cuda/shared.cuh"

namespace tilewise::impl::diffuse {

inline constexpr unsigned warps_a_group = 4;
inline constexpr int rows_ahead = 4;  // including the row that is being stepped

/// How a field is cut into strips and bands, one of each a warp.
struct strip_plan {
  unsigned strips, bands;
  int band;     // rows
  bool packed;  // rows begin on a pack
};

/// The edges of the field that a level's row may be at.
enum class edges { none, columns, all };

/// A strip of width 32 * Columns. On each side a margin is not written, except at an edge of the field: the first strip
/// begins at an edge, and the last one ends at an edge.
template <class T, mask Mask, int Columns, int Depth>
struct strip_stream {
  using level_rows = row_sums<T, Mask, Columns, true>;
  using row = typename level_rows::row;
  static constexpr int radius = radius_of(Mask);
  static constexpr int halo = Depth * radius;
  static constexpr int margin =
      ceil_div(halo, pack_length<T>) * pack_length<T>;                    // so that the output begins with a pack
  static constexpr int lanes = warp_size, pack_columns = pack_length<T>;  // with a sign, as offsets are
  static constexpr int width = lanes * Columns;
  static constexpr int output_width = width - 2 * margin;
  static constexpr std::size_t kept_bytes =
      Depth * (sizeof(level_rows) - (Mask == mask::nine_points ? 0 : sizeof(row)));
  static_assert(Columns % pack_length<T> == 0);

  using waiting_rows = T[rows_ahead][width];  // the requested rows of a warp

  const T* from;  // the strip's first element
  T* to;          // the lane's
  const field<T>& f;
  waiting_rows& waiting;
  bool packed, is_at_edge;
  bool is_first, is_last;  // the lane has the field's first column, or its last one
  unsigned written = 0;    // a bit for each of the lane's columns
  int rows, begin, end;    // rows of the field; range of the output; 31 bits are enough, since rows are long
  int front;               // the row that comes in
  level_rows levels[Depth]{};

  static std::uint64_t strips_across(std::uint64_t columns) { return 1 + ceil_div(columns - width, output_width); }

  __device__ __forceinline__ strip_stream(const T* from_, T* to_, const field<T>& field_, const strip_plan& plan,
                                          unsigned strip, unsigned band, waiting_rows& waiting_)
      : f(field_),
        waiting(waiting_),
        packed(plan.packed),
        is_at_edge(strip == 0 || strip + 1 == plan.strips),
        rows(static_cast<int>(f.rows)),
        begin(static_cast<int>(band) * plan.band),
        end(min(begin + plan.band, rows)),
        front(max(begin - halo, 0)) {
    const std::int64_t usual = std::int64_t{strip} * output_width;
    const std::int64_t left = strip + 1 == plan.strips ? f.columns - width : usual;
    from = from_ + left;
    to = to_ + left + lane_column();
    is_first = left + lane_column() == 0;
    is_last = left + lane_column() + Columns == f.columns;
    const int first = strip == 0 ? 0 : static_cast<int>(usual + margin - left);
    const int last = strip + 1 == plan.strips ? width : width - margin;
#pragma unroll
    for (int v = 0; v < Columns; ++v)
      if (lane_column() + v >= first && lane_column() + v < last) written |= 1u << v;
  }

  /// Read from f each time, since a register would cost more.
  __device__ __forceinline__ int half() const { return static_cast<int>(f.half); }

  static __device__ __forceinline__ int lane_column() { return static_cast<int>(threadIdx.x % warp_size) * Columns; }

  /// Requests row j; beyond the field, the last row.
  __device__ __forceinline__ void ask_for(int j) const {
    const T* const source = from + min(j, rows - 1) * f.columns;
    T* const target = waiting[j % rows_ahead];
    const int lane = static_cast<int>(threadIdx.x) % lanes;
    if (packed) {
#pragma unroll
      for (int c = lane * pack_columns; c < width; c += lanes * pack_columns) copy_async<16>(target + c, source + c);
    } else {
#pragma unroll
      for (int c = lane; c < width; c += lanes) copy_async<sizeof(T)>(target + c, source + c);
    }
    commit_copies();
  }

  /// Waits for row j, which was requested rows_ahead - 1 calls ago.
  __device__ __forceinline__ void take(int j, row& values) const {
    wait_for_copies<rows_ahead - 1>();
    __syncwarp();
    const T* const mine = &waiting[j % rows_ahead][lane_column()];
#pragma unroll
    for (int v = 0; v < Columns; v += pack_columns)
      *reinterpret_cast<uint4*>(&values[v]) = *reinterpret_cast<const uint4*>(mine + v);
    __syncwarp();  // the row's room is free
  }

  __device__ __forceinline__ void store(int j, const row& values) const {
    T* const target = to + j * f.columns;
    if (packed) {
#pragma unroll
      for (int v = 0; v < Columns; v += pack_columns)
        if ((written >> v & 1) != 0) store_pack(target + v, pack_of(&values[v]));
      return;
    }
#pragma unroll
    for (int v = 0; v < Columns; ++v)
      if ((written >> v & 1) != 0) target[v] = values[v];
  }

  /// Takes row j of a level, and computes row j - radius of the next level.
  template <edges Edges>
  __device__ __forceinline__ void step(int level, int j, row& now) {
    if (Edges != edges::none) {
      if (is_first && j < half()) now[0] = 1;
      if (is_last && j >= half()) now[Columns - 1] = 1;
    }
    if (Edges == edges::all && j >= rows) {  // below the last row stand copies of it
#pragma unroll
      for (int v = 0; v < Columns; ++v) now[v] = levels[level].old[radius - 1][v];
    }
    T wide[level_rows::width];
    level_rows::template widen<Edges != edges::none>(now, wide);
    if (Edges == edges::all && j == 0) {  // and above the first one
#pragma unroll
      for (int r = 0; r < radius; ++r) levels[level].push(wide, now, f.template weights_for<Mask>());
    }
    levels[level].push(wide, now, f.template weights_for<Mask>());
  }

  /// Whether a row has values that are too large for the scaled form.
  static __device__ __forceinline__ bool is_too_large(const row& values) {
    bool is_any = false;
#pragma unroll
    for (int v = 0; v < Columns; ++v) is_any |= is_huge(values[v]);
    return __any_sync(all_lanes, is_any);
  }

  /// Reads rows, and writes those that have passed all levels. Returns false if a row is too large for the form of the
  /// mask.
  template <edges Edges>
  __device__ __forceinline__ bool advance_to(int stop) {
    // Two rows at a time, so that the registers of new and old rows swap roles without moves. Not for the field's first
    // and last rows: they are few, and this would only add code.
#pragma unroll(Edges == edges::all ? 1 : 2)
    for (int coming = front; coming < stop; ++coming) {
      ask_for(coming + rows_ahead - 1);
      row now;
      take(coming, now);
      if (Mask == mask::scaled_five_points && is_too_large(now)) return false;
#pragma unroll
      for (int level = 0; level < Depth; ++level) {
        if (Edges == edges::all && coming < level * radius) break;
        step<Edges>(level, coming - level * radius, now);
      }
      if (coming - halo < begin) continue;
#pragma unroll
      for (int v = 0; v < Columns; ++v) now[v] = order::canonical(now[v]);
      store(coming - halo, now);
    }
    front = stop;
    return true;
  }

  __device__ __forceinline__ void ask_for_first() const {
    for (int ahead = 0; ahead + 1 < rows_ahead; ++ahead) ask_for(front + ahead);
  }

  /// Returns false if a row is too large for the form of the mask; then not all rows are written.
  __device__ __forceinline__ bool run() {
    ask_for_first();
    const int stop = end + halo, tail = min(stop, rows);
    const int head = begin == 0 ? min(halo, stop) : front;  // from this row on no level is at row 0
    while (front < stop) {
      if (front < head || front >= tail) {
        if (!advance_to<edges::all>(front < head ? head : stop)) return false;
      } else if (is_at_edge) {
        if (!advance_to<edges::columns>(tail)) return false;
      } else {
        if (!advance_to<edges::none>(tail)) return false;
      }
    }
    return true;
  }

  /// Runs with code that treats all rows as if they were at edges.
  __device__ __forceinline__ void run_anywhere() {
    ask_for_first();
    advance_to<edges::all>(end + halo);
  }
};

/// Runs the definition's form of the mask, if the scaled form is not valid. Not inlined: it would take registers from
/// the scaled form.
template <class T, int Columns, int Depth>
__device__ __noinline__ void stream_plainly(const T* from, T* to, const field<T>& f, const strip_plan& plan,
                                            unsigned strip, unsigned band,
                                            T (&waiting)[rows_ahead][warp_size * Columns]) {
  wait_for_copies<0>();
  strip_stream<T, mask::five_points, Columns, Depth>(from, to, f, plan, strip, band, waiting).run_anywhere();
}

/// How many groups share a multiprocessor's 65536 registers. A lane needs what it keeps, and about 64 for the rest.
template <class Stream>
constexpr unsigned groups_for() {
  return 65536 / (warps_a_group * warp_size) / (Stream::kept_bytes / 4 + 64);
}

template <class T, mask Mask, int Columns, int Depth>
__global__ void __launch_bounds__(warps_a_group* warp_size, groups_for<strip_stream<T, Mask, Columns, Depth>>())
    stream_strips(const T* __restrict__ from, T* __restrict__ to, const __grid_constant__ field<T> f,
                  const strip_plan plan) {
  using stream = strip_stream<T, quick_form(Mask), Columns, Depth>;
  __shared__ alignas(16) typename stream::waiting_rows waiting[warps_a_group];
  const unsigned warp = blockIdx.x * warps_a_group + warp_of_group();
  if (warp >= plan.strips * plan.bands) return;
  const unsigned strip = warp % plan.strips, band = warp / plan.strips;
  auto& mine = waiting[warp_of_group()];
  const bool is_quick = Mask != mask::five_points || f.can_scale;
  if (is_quick && stream(from, to, f, plan, strip, band, mine).run()) return;
  if constexpr (Mask == mask::five_points) stream_plainly<T, Columns, Depth>(from, to, f, plan, strip, band, mine);
}

/// Runs one pass of Depth steps, by about so many warps.
template <class T, mask Mask, int Columns, int Depth>
void launch_strips(const T* from, T* to, const field<T>& f, unsigned warps, queue& q) {
  using stream = strip_stream<T, Mask, Columns, Depth>;
  const auto rows = static_cast<std::uint64_t>(f.rows), columns = static_cast<std::uint64_t>(f.columns);
  const std::uint64_t strips = stream::strips_across(columns);
  const std::uint64_t least = 4 * stream::halo;  // rows, so that those computed twice stay few
  const std::uint64_t band = ceil_div(rows, std::max<std::uint64_t>(1, std::min(warps / strips, rows / least)));
  const std::uint64_t bands = ceil_div(rows, band);
  const strip_plan plan{static_cast<unsigned>(strips), static_cast<unsigned>(bands), static_cast<int>(band),
                        is_packed(from, to, columns)};
  const auto groups = static_cast<unsigned>(ceil_div(strips * bands, warps_a_group));
  stream_strips<T, Mask, Columns, Depth><<<groups, warps_a_group * warp_size, 0, q.stream()>>>(from, to, f, plan);
  TW_CUDA(cudaGetLastError());
}

}  // namespace tilewise::impl::diffuse
