// What:   several steps a pass, of a strip of columns that a warp streams down in registers.
// Order:  diffuse_cuda.cuh.
// Shape:  a lane holds `Columns` neighbouring columns of 2 * radius + 1 rows of each level. With each row that comes
// in,
//         each level steps the row that has just become complete; neighbours beyond the lane come by shuffles. Warps
//         share nothing: a strip is wider than its output by a radius a step on each side, a band of rows is higher.
// Limits: the registers that the levels need grow with Depth.
// Twins:  diffuse_serial.cpp, diffuse_cpu.cpp.
#pragma once

#include "diffuse/diffuse_cuda.cuh"

namespace tilewise::impl::diffuse {

inline constexpr int warp_lanes = 32;
inline constexpr unsigned warps_a_group = 4;

/// How a field is cut into strips and bands, one of each a warp.
struct strip_plan {
  unsigned strips;
  std::int64_t band;  // rows
};

template <class T, mask Mask, int Columns, int Depth>
struct strip_stream {
  static constexpr int radius = radius_of(Mask);
  static constexpr int rows_kept = 2 * radius + 1;
  static constexpr int halo = Depth * radius;
  static constexpr int width = warp_lanes * Columns;
  static constexpr int output_width = width - 2 * halo;
  static constexpr int pack = 16 / sizeof(T);
  static constexpr bool packs_fit = Columns % pack == 0 && halo % pack == 0;

  using row = T[Columns];

  const T* from;
  T* to;
  const field<T>& f;
  bool packed;         // rows begin on 16 bytes
  std::int64_t left;   // column of the strip's first element
  std::int64_t first;  // column of the lane's first element
  T kept[Depth][rows_kept][Columns];

  __device__ __forceinline__ bool is_inner() const { return left >= 0 && left + width <= f.columns; }

  __device__ __forceinline__ void load(std::int64_t j, row& to_row) const {
    const T* const source = from + f.within(j, f.rows) * f.columns;
    if (packs_fit && packed && is_inner()) {
#pragma unroll
      for (int v = 0; v < Columns; v += pack) {
        const uint4 bits = __ldg(reinterpret_cast<const uint4*>(source + first + v));
        memcpy(&to_row[v], &bits, sizeof bits);
      }
      return;
    }
#pragma unroll
    for (int v = 0; v < Columns; ++v) to_row[v] = __ldg(source + f.within(first + v, f.columns));
  }

  __device__ __forceinline__ void store(std::int64_t j, const row& values) const {
    T* const target = to + j * f.columns;
    const std::int64_t begin = left + halo, end = begin + output_width < f.columns ? begin + output_width : f.columns;
    if (packs_fit && packed && is_inner()) {
#pragma unroll
      for (int v = 0; v < Columns; v += pack)
        if (first + v >= begin && first + v < end) {
          uint4 bits;
          memcpy(&bits, &values[v], sizeof bits);
          *reinterpret_cast<uint4*>(target + first + v) = bits;
        }
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

  /// Row j of a level comes in; above the first row stand copies of it.
  __device__ __forceinline__ void push(int level, std::int64_t j, const row& values) {
#pragma unroll
    for (int k = 0; k < rows_kept; ++k)
#pragma unroll
      for (int v = 0; v < Columns; ++v)
        kept[level][k][v] = k + 1 == rows_kept || j == 0 ? values[v] : kept[level][k + 1][v];
  }

  /// The next level's row from the rows that this one keeps.
  __device__ __forceinline__ void step(int level, row& next) const {
    T around[rows_kept][Columns + 2 * radius];
#pragma unroll
    for (int k = 0; k < rows_kept; ++k) {
#pragma unroll
      for (int v = 0; v < Columns; ++v) around[k][radius + v] = kept[level][k][v];
      if (Mask != mask::nine_points && k != radius) continue;  // no corners
#pragma unroll
      for (int r = 0; r < radius; ++r) {
        around[k][r] = __shfl_up_sync(~0u, kept[level][k][Columns - radius + r], 1);
        around[k][radius + Columns + r] = __shfl_down_sync(~0u, kept[level][k][r], 1);
      }
    }
#pragma unroll
    for (int v = 0; v < Columns; ++v)
      next[v] = stepped<Mask>(f.w, [&](int dy, int dx) { return around[radius + dy][radius + v + dx]; });
  }

  /// Rows from `begin` to `end` of the output.
  __device__ __forceinline__ void run(std::int64_t begin, std::int64_t end) {
    const std::int64_t start = begin > halo ? begin - halo : 0;
    row coming, now;
    load(start, coming);
#pragma unroll rows_kept
    for (std::int64_t front = start; front < end + halo; ++front) {
#pragma unroll
      for (int v = 0; v < Columns; ++v) now[v] = coming[v];
      load(front + 1, coming);  // ahead of its use; beyond the last row that one again
      set_edges(front < f.rows ? front : f.rows - 1, now);
      push(0, front, now);
#pragma unroll
      for (int level = 1; level <= Depth; ++level) {
        const std::int64_t j = front - level * radius;
        if (j < 0) break;
        if (level == Depth && j < begin) break;
        step(level - 1, now);
        if (level == Depth) {
#pragma unroll
          for (int v = 0; v < Columns; ++v) now[v] = order::canonical(now[v]);
          store(j, now);
        } else {
          if (j < f.rows)
            set_edges(j, now);
          else
#pragma unroll
            for (int v = 0; v < Columns; ++v)
              now[v] = kept[level][rows_kept - 1][v];  // below the last row copies of it
          push(level, j, now);
        }
      }
    }
  }
};

template <class T, mask Mask, int Columns, int Depth>
__global__ void __launch_bounds__(warps_a_group* warp_lanes)
    stream_strips(const T* __restrict__ from, T* __restrict__ to, const __grid_constant__ field<T> f,
                  const strip_plan plan, bool packed) {
  using stream = strip_stream<T, Mask, Columns, Depth>;
  const unsigned warp = blockIdx.x * warps_a_group + threadIdx.x / warp_lanes;
  const std::int64_t begin = std::int64_t{warp / plan.strips} * plan.band;
  if (begin >= f.rows) return;
  const std::int64_t left = std::int64_t{warp % plan.strips} * stream::output_width - stream::halo;
  const std::int64_t end = begin + plan.band < f.rows ? begin + plan.band : f.rows;
  stream now{from, to, f, packed, left, left + static_cast<int>(threadIdx.x % warp_lanes) * Columns, {}};
  now.run(begin, end);
}

/// One pass of Depth steps. `band` is the least number of rows a warp takes.
template <class T, mask Mask, int Columns, int Depth>
void launch_strips(const T* from, T* to, const field<T>& f, unsigned warps, backend::cuda::queue& q) {
  using stream = strip_stream<T, Mask, Columns, Depth>;
  const auto rows = static_cast<std::uint64_t>(f.rows), columns = static_cast<std::uint64_t>(f.columns);
  const std::uint64_t strips = parts_of(columns, stream::output_width);
  const std::uint64_t least = 4 * stream::halo;  // rows, so that those computed twice stay few
  const std::uint64_t bands = std::max<std::uint64_t>(1, std::min(warps / strips, rows / least));
  const strip_plan plan{static_cast<unsigned>(strips), static_cast<std::int64_t>(parts_of(rows, bands))};
  const bool packed = columns % stream::pack == 0 && reinterpret_cast<std::uintptr_t>(from) % 16 == 0 &&
                      reinterpret_cast<std::uintptr_t>(to) % 16 == 0;
  const auto groups = static_cast<unsigned>(parts_of(strips * bands, warps_a_group));
  stream_strips<T, Mask, Columns, Depth>
      <<<groups, warps_a_group * warp_lanes, 0, q.stream()>>>(from, to, f, plan, packed);
  TW_CUDA(cudaGetLastError());
}

}  // namespace tilewise::impl::diffuse
