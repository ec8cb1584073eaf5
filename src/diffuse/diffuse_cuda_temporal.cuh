// What:   several steps a pass, of a strip of columns that a warp streams down in registers.
// Order:  diffuse_cuda.cuh.
// Shape:  a lane holds `Columns` neighbouring columns of a few rows of each level. With each row that comes in, each
//         level steps the row that has just become complete; neighbours beyond the lane come by shuffles. Warps share
//         nothing: a strip is wider than its output by a radius a step on each side, a band of rows is higher.
// Limits: the registers that the levels need grow with Depth.
// Twins:  diffuse_serial.cpp, diffuse_cpu.cpp.
#pragma once

#include "diffuse/diffuse_cuda.cuh"

namespace tilewise::impl::diffuse {

inline constexpr unsigned warps_a_group = 4;

/// How a field is cut into strips and bands, one of each a warp.
struct strip_plan {
  unsigned strips;
  std::int64_t band;  // rows
};

/// Of a strip of width 32 * Columns the middle is written.
template <class T, mask Mask, int Columns, int Depth>
struct strip_stream {
  using level_rows = row_sums<T, Mask, Columns, true>;
  using row = typename level_rows::row;
  static constexpr int radius = radius_of(Mask);
  static constexpr int halo = Depth * radius;
  static constexpr int margin = (halo + pack<T> - 1) / pack<T> * pack<T>;  // so that the output begins with a pack
  static constexpr int width = warp_lanes * Columns;
  static constexpr int output_width = width - 2 * margin;
  static_assert(Columns % pack<T> == 0);

  const T* from;
  T* to;
  const field<T>& f;
  bool packed;         // rows begin on a pack
  std::int64_t left;   // column of the strip's first element
  std::int64_t first;  // column of the lane's first element
  level_rows levels[Depth];
  static constexpr std::size_t kept_bytes =
      Depth * (sizeof(level_rows) - (Mask == mask::nine_points ? 0 : sizeof(row)));

  __device__ __forceinline__ bool is_inner() const { return left >= 0 && left + width <= f.columns; }

  __device__ __forceinline__ void load(std::int64_t j, row& to_row) const {
    const T* const source = from + f.within(j, f.rows) * f.columns;
    if (packed && is_inner()) {
#pragma unroll
      for (int v = 0; v < Columns; v += pack<T>) load_pack(source + first + v, &to_row[v]);
      return;
    }
#pragma unroll
    for (int v = 0; v < Columns; ++v) to_row[v] = __ldg(source + f.within(first + v, f.columns));
  }

  __device__ __forceinline__ void store(std::int64_t j, const row& values) const {
    T* const target = to + j * f.columns;
    const std::int64_t begin = left + margin, end = begin + output_width < f.columns ? begin + output_width : f.columns;
    if (packed && is_inner()) {
#pragma unroll
      for (int v = 0; v < Columns; v += pack<T>)
        if (first + v >= begin && first + v < end) store_pack(target + first + v, &values[v]);
      return;
    }
#pragma unroll
    for (int v = 0; v < Columns; ++v)
      if (first + v >= begin && first + v < end) target[first + v] = values[v];
  }

  /// Every lane gets the element of column `column` of the strip.
  __device__ __forceinline__ T broadcast(const row& values, std::int64_t column) const {
    T mine = values[0];
#pragma unroll
    for (int v = 1; v < Columns; ++v)
      if (first + v == column) mine = values[v];
    return __shfl_sync(~0u, mine, static_cast<int>((column - left) / Columns));
  }

  /// The strip's element and the ghosts of a row that the next level reads.
  __device__ __forceinline__ void set_edges(std::int64_t j, row& values) const {
    if (left > 0 && left + width < f.columns) return;
#pragma unroll
    for (int v = 0; v < Columns; ++v)
      if (f.in_strip(j, first + v)) values[v] = 1;
    if (left < 0) {
      const T edge = broadcast(values, 0);
#pragma unroll
      for (int v = 0; v < Columns; ++v)
        if (first + v < 0) values[v] = edge;
    }
    if (left + width > f.columns) {
      const T edge = broadcast(values, f.columns - 1);
#pragma unroll
      for (int v = 0; v < Columns; ++v)
        if (first + v >= f.columns) values[v] = edge;
    }
  }

  /// Row j of a level, and the next level's row j - radius.
  template <bool Inner>
  __device__ __forceinline__ void step(int level, std::int64_t j, row& now) {
    T wide[level_rows::width];
    if (!Inner) {
      if (j < f.rows) {
        set_edges(j, now);
      } else {  // below the last row stand copies of it
#pragma unroll
        for (int v = 0; v < Columns; ++v) now[v] = levels[level].old[radius - 1][v];
      }
    }
    level_rows::widen(now, wide);
    if (!Inner && j == 0) {  // and above the first one
#pragma unroll
      for (int r = 0; r < radius; ++r) levels[level].push(wide, now, f.template weights_for<Mask>());
    }
    levels[level].push(wide, now, f.template weights_for<Mask>());
  }

  /// Whether the scaled form will not do for the row.
  static __device__ __forceinline__ bool is_too_large(const row& values) {
    bool is_any = false;
#pragma unroll
    for (int v = 0; v < Columns; ++v) is_any |= is_huge(values[v]);
    return __any_sync(~0u, is_any);
  }

  /// Rows from `begin` to `end` of the output; Inner if no row of any level is at an edge. False if it gave up, since a
  /// row is too large for the form of the mask.
  template <bool Inner>
  __device__ __forceinline__ bool run(std::int64_t begin, std::int64_t end) {
    const std::int64_t start = begin > halo ? begin - halo : 0;
    row coming, now;
    load(start, coming);
    for (std::int64_t front = start; front < end + halo; ++front) {
#pragma unroll
      for (int v = 0; v < Columns; ++v) now[v] = coming[v];
      if (Mask == mask::scaled_five_points && is_too_large(now)) return false;
      load(front + 1, coming);  // on its way while this one is stepped; beyond the last row that one again
#pragma unroll
      for (int level = 0; level < Depth; ++level) {
        if (!Inner && front < level * radius) break;
        step<Inner>(level, front - level * radius, now);
      }
      const std::int64_t j = front - halo;
      if (j < begin || j >= end) continue;
#pragma unroll
      for (int v = 0; v < Columns; ++v) now[v] = order::canonical(now[v]);
      store(j, now);
    }
    return true;
  }
};

/// The definition's form of the mask, where the scaled one does not hold. Not inlined: it would take the registers of
/// the other.
template <class T, int Columns, int Depth>
__device__ __noinline__ void stream_plainly(const T* from, T* to, const field<T>& f, bool packed, std::int64_t left,
                                            std::int64_t begin, std::int64_t end) {
  strip_stream<T, mask::five_points, Columns, Depth> now{
      from, to, f, packed, left, left + static_cast<int>(threadIdx.x % warp_lanes) * Columns, {}};
  now.template run<false>(begin, end);
}

/// Groups that a multiprocessor's 65536 registers are shared among: what a lane keeps, and about 64 for the rest.
template <class Stream>
constexpr unsigned groups_for() {
  return 65536 / (warps_a_group * warp_lanes) / (Stream::kept_bytes / 4 + 64);
}

template <class T, mask Mask, int Columns, int Depth>
__global__ void __launch_bounds__(warps_a_group* warp_lanes, groups_for<strip_stream<T, Mask, Columns, Depth>>())
    stream_strips(const T* __restrict__ from, T* __restrict__ to, const __grid_constant__ field<T> f,
                  const strip_plan plan, bool packed) {
  using stream = strip_stream<T, quick_form(Mask), Columns, Depth>;
  const unsigned warp = blockIdx.x * warps_a_group + warp_of_group();
  const std::int64_t begin = std::int64_t{warp / plan.strips} * plan.band;
  if (begin >= f.rows) return;
  const std::int64_t left = std::int64_t{warp % plan.strips} * stream::output_width - stream::margin;
  const std::int64_t end = begin + plan.band < f.rows ? begin + plan.band : f.rows;
  stream now{from, to, f, packed, left, left + static_cast<int>(threadIdx.x % warp_lanes) * Columns, {}};
  const bool is_inner =
      left > 0 && left + stream::width < f.columns && begin >= stream::halo && end + stream::halo <= f.rows;
  const bool is_quick = Mask != mask::five_points || f.can_scale;
  if (is_quick && (is_inner ? now.template run<true>(begin, end) : now.template run<false>(begin, end))) return;
  if constexpr (Mask == mask::five_points) stream_plainly<T, Columns, Depth>(from, to, f, packed, left, begin, end);
}

/// One pass of Depth steps, by about so many warps.
template <class T, mask Mask, int Columns, int Depth>
void launch_strips(const T* from, T* to, const field<T>& f, unsigned warps, backend::cuda::queue& q) {
  using stream = strip_stream<T, Mask, Columns, Depth>;
  const auto rows = static_cast<std::uint64_t>(f.rows), columns = static_cast<std::uint64_t>(f.columns);
  const std::uint64_t strips = parts_of(columns, stream::output_width);
  const std::uint64_t least = 4 * stream::halo;  // rows, so that those computed twice stay few
  const std::uint64_t bands = std::max<std::uint64_t>(1, std::min(warps / strips, rows / least));
  const strip_plan plan{static_cast<unsigned>(strips), static_cast<std::int64_t>(parts_of(rows, bands))};
  const auto groups = static_cast<unsigned>(parts_of(strips * bands, warps_a_group));
  stream_strips<T, Mask, Columns, Depth>
      <<<groups, warps_a_group * warp_lanes, 0, q.stream()>>>(from, to, f, plan, is_packed(from, to, columns));
  TW_CUDA(cudaGetLastError());
}

}  // namespace tilewise::impl::diffuse
