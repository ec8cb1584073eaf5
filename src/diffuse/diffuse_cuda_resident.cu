// What:   all steps in one launch, of a field that fits the registers of the chip.
// Order:  diffuse_cuda.cuh.
// Shape:  a group holds a tile and its halo, a warp some of its rows in registers; warps share their outer rows. After
//         `steps` steps the halo is used up: the group sends the frame of what is its own, and waits for what others
//         own of its halo. What is sent says of which round it is, so there are no flags and no fences. It lies in two
//         fields in turns: a group that is a round ahead writes to the other one, and two ahead it cannot be. All
//         groups must run at once, so the launch is a cooperative one.
// Limits: as many tiles as there are multiprocessors.
// Twins:  diffuse_serial.cpp.
#include "diffuse/diffuse_cuda.cuh"
#include "diffuse/diffuse_cuda.hpp"

namespace tilewise::impl::diffuse {

namespace {

constexpr std::array<unsigned, 5> depths{1, 2, 4, 6, 8};
constexpr std::array<registry::tuning_axis, 1> axes{{{"steps", depths, 6}}};

/// An element on its way to another group, in two words (one for f32) of half a value and the round it is of: who reads
/// it knows by itself whether it has come.
template <class T>
using packet = std::conditional_t<sizeof(T) == 8, ulonglong2, unsigned long long>;

__device__ __forceinline__ void send(ulonglong2* where, double value, unsigned round) {
  const auto bits = static_cast<unsigned long long>(__double_as_longlong(value));
  const unsigned long long tag = static_cast<unsigned long long>(round) << 32;
  asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};"
               :
               : "l"(where), "l"(tag | (bits & 0xffffffffu)), "l"(tag | bits >> 32)
               : "memory");
}
__device__ __forceinline__ void send(unsigned long long* where, float value, unsigned round) {
  const unsigned long long word = static_cast<unsigned long long>(round) << 32 | __float_as_uint(value);
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" : : "l"(where), "l"(word) : "memory");
}

/// Nothing is read if not wanted, and without a branch: all reads of a thread are on their way at once.
__device__ __forceinline__ void receive(ulonglong2& p, const ulonglong2* where, bool is_wanted) {
  asm volatile("{.reg .pred p; setp.ne.u32 p, %3, 0; @p ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];}"
               : "+l"(p.x), "+l"(p.y)
               : "l"(where), "r"(static_cast<unsigned>(is_wanted))
               : "memory");
}
__device__ __forceinline__ void receive(unsigned long long& p, const unsigned long long* where, bool is_wanted) {
  asm volatile("{.reg .pred p; setp.ne.u32 p, %2, 0; @p ld.relaxed.gpu.global.u64 %0, [%1];}"
               : "+l"(p)
               : "l"(where), "r"(static_cast<unsigned>(is_wanted))
               : "memory");
}

__device__ __forceinline__ bool is_of(const ulonglong2& p, unsigned round) {
  return p.x >> 32 == round && p.y >> 32 == round;
}
__device__ __forceinline__ bool is_of(unsigned long long p, unsigned round) { return p >> 32 == round; }
__device__ __forceinline__ double value_of(const ulonglong2& p) {
  return __longlong_as_double(static_cast<long long>((p.x & 0xffffffffu) | p.y << 32));
}
__device__ __forceinline__ float value_of(unsigned long long p) { return __uint_as_float(static_cast<unsigned>(p)); }

/// Of one direction: where a tile begins, and what of the field is its own. Tiles are of one size and overlap evenly.
struct extent {
  int origin, begin, end;
  int low, high;  // its own and a halo around it

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

/// A lane's part of a row.
template <class T, int Columns>
struct alignas(sizeof(T) * Columns < 16 ? sizeof(T) * Columns : 16) lane_row {
  T values[Columns];
};

/// A warp's rows of a tile.
template <class T, mask Mask, int Columns, int Rows, bool Ragged>
struct resident_rows {
  static constexpr int radius = radius_of(Mask);
  static constexpr int width = warp_lanes * Columns;
  using sums_type = row_sums<T, Mask, Columns>;
  static __host__ __device__ constexpr std::size_t room_bytes(
      int warps) {  // first and last rows of two sides, or the tile
    return std::size_t{4 * radius > Rows ? 4 * radius : Rows} * warps * width * sizeof(T);
  }
  static_assert(Rows * Columns <= 32);

  const field<T>& f;
  lane_row<T, Columns>* shared;  // of both sides, each warp's first and last rows
  int warp, warps;
  int lane, i, j;  // of the field, the thread's first element
  unsigned strip;  // a bit for each element, of those in the field's strips
  T values[Rows][Columns];

  __device__ __forceinline__ lane_row<T, Columns>& shared_row(int side, int of, int index) const {
    return shared[((side * warps + of) * 2 * radius + index) * warp_lanes + lane];
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

  /// Row k of a warp, of those around it as well; beyond the field, and beyond the tile where it is used up anyway,
  /// stands a copy of the row before.
  __device__ __forceinline__ void next_row(int side, int k, T (&wide)[sums_type::width]) const {
    const lane_row<T, Columns> now = k < 0      ? (warp == 0 ? row_of(0) : shared_row(side, warp - 1, 2 * radius + k))
                                     : k < Rows ? row_of(k)
                                                : shared_row(side, warp + 1 == warps ? warp : warp + 1, k - Rows);
    const bool is_ghost = (k >= Rows && warp + 1 == warps) || (Ragged && j + k >= f.rows);
    T coming[sums_type::width];
    sums_type::widen(now.values, coming);
#pragma unroll
    for (int c = 0; c < sums_type::width; ++c) {
      if (Ragged && c > radius && i + c - radius >= f.columns) coming[c] = coming[c - 1];
      if (!is_ghost) wide[c] = coming[c];
    }
  }

  __device__ __forceinline__ void step(int side, bool is_last) {
    sums_type sums{};
    T wide[sums_type::width]{};
    T next[Columns];
#pragma unroll
    for (int k = -radius; k < Rows + radius; ++k) {
      next_row(side, k, wide);
      sums.push(wide, next, f.w);
#pragma unroll
      for (int v = 0; v < Columns; ++v)
        if (k >= radius) values[k - radius][v] = next[v];
    }
    if (is_last) return;
    set_strips();
    share(1 - side);
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

/// Where the halo's elements lie: rows above, rows below, and then what is left and right of the tile's own rows.
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

template <class T>
struct exchange_fields {
  packet<T>* side[2];
};

template <class T, mask Mask, int Columns, int Rows, int Warps, bool Ragged>
__global__ void __launch_bounds__(Warps* warp_lanes, 1)
    stay_resident(const T* from, T* to, const __grid_constant__ field<T> f, exchange_fields<T> exchange, unsigned steps,
                  unsigned depth) {
  using rows_type = resident_rows<T, Mask, Columns, Rows, Ragged>;
  constexpr int width = rows_type::width;
  extern __shared__ __align__(16) unsigned char room[];
  const int halo = static_cast<int>(depth) * rows_type::radius;
  const int lane = static_cast<int>(threadIdx.x) % warp_lanes, warp = static_cast<int>(warp_of_group());
  const int warps = static_cast<int>(blockDim.x) / warp_lanes, height = warps * Rows;
  const int columns = static_cast<int>(f.columns);
  const extent x(static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x), columns, width, halo);
  const extent y(static_cast<int>(blockIdx.y), static_cast<int>(gridDim.y), static_cast<int>(f.rows), height, halo);
  auto* const list = reinterpret_cast<ushort2*>(room + rows_type::room_bytes(warps));
  auto* const edges = reinterpret_cast<lane_row<T, Columns>*>(room);  // in turns with
  T* const tile = reinterpret_cast<T*>(room);                         // the halo as it came
  rows_type mine{f, edges, warp, warps, lane, x.origin + lane * Columns, y.origin + warp * Rows, 0, {}};
  mine.load(from);
  mine.share(0);
  const int count = list_halo(x, y, list);
  unsigned left = steps;
  for (unsigned round = 1;; ++round) {
    const unsigned now = left < depth ? left : depth;
    int side = 0;
    for (unsigned step = 0; step < now; ++step, side = 1 - side) {
      __syncthreads();
      mine.step(side, step + 1 == left);
    }
    left -= now;
    if (left == 0) break;
    packet<T>* const field_now = exchange.side[round % 2];
#pragma unroll
    for (int k = 0; k < Rows; ++k)
#pragma unroll
      for (int v = 0; v < Columns; ++v) {
        const int column = mine.i + v, row = mine.j + k;
        if (x.owns(column) && y.owns(row) && (x.is_near_side(column, halo) || y.is_near_side(row, halo)))
          send(field_now + row * columns + column, mine.values[k][v], round);
      }
    __syncthreads();
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
          receive(packets[n], field_now + where[n].y * columns + where[n].x, is_wanted[n]);
#pragma unroll
        for (int n = 0; n < at_once; ++n) is_waiting |= is_wanted[n] && !is_of(packets[n], round);
      } while (is_waiting);
#pragma unroll
      for (int n = 0; n < at_once; ++n)
        if (is_wanted[n]) tile[(where[n].y - y.origin) * width + where[n].x - x.origin] = value_of(packets[n]);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < Rows; ++k)
#pragma unroll
      for (int v = 0; v < Columns; ++v) {
        const int column = mine.i + v, row = mine.j + k;
        if (x.reaches(column) && y.reaches(row) && !(x.owns(column) && y.owns(row)))
          mine.values[k][v] = tile[(warp * Rows + k) * width + lane * Columns + v];
      }
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

/// The tiles of a field, if any.
struct tile_plan {
  unsigned across, down, warps;
  bool is_ragged;  // the field is smaller than a tile
  explicit operator bool() const { return warps != 0; }
};

/// Tiles along `length`; too many if what is left without the halo is less than the halo.
inline std::uint64_t tiles_along(std::uint64_t length, std::uint64_t size, std::uint64_t halo) {
  if (length <= size) return 1;
  return size < 4 * halo ? length : parts_of(length - 2 * halo, size - 2 * halo);
}

inline std::size_t list_bytes(std::uint64_t width, std::uint64_t height, std::uint64_t halo) {
  const std::uint64_t inner = width > 2 * halo && height > 2 * halo ? (width - 2 * halo) * (height - 2 * halo) : 0;
  return (width * height - inner) * sizeof(ushort2);
}

/// The lowest tiles that are no more than the multiprocessors.
inline tile_plan plan_for(std::uint64_t rows, std::uint64_t columns, std::uint64_t width, std::uint64_t rows_a_warp,
                          unsigned most_warps, std::uint64_t halo, std::uint64_t units) {
  const std::uint64_t across = tiles_along(columns, width, halo);
  for (unsigned warps = 1; warps <= most_warps; ++warps) {
    const std::uint64_t height = warps * rows_a_warp, down = tiles_along(rows, height, halo);
    if (across * down <= units)
      return {static_cast<unsigned>(across), static_cast<unsigned>(down), warps, columns < width || rows < height};
  }
  return {};
}

/// The shapes of tiles: small ones share a small field among more multiprocessors.
template <int Columns, int Rows, int Warps>
struct tile_shape {
  static constexpr int columns = Columns, rows = Rows, warps = Warps, width = warp_lanes * Columns;
};
using small_tile = tile_shape<2, 4, 16>;
using large_tile = tile_shape<4, 6, 16>;

template <class Shape>
tile_plan plan_of(const registry::problem& p, const backend::device& on, unsigned depth) {
  const sizes s(p);
  return plan_for(s.rows, s.columns, Shape::width, Shape::rows, Shape::warps, depth * radius_of(mask_of(p)),
                  on.info().compute_units);
}

template <class T, mask Mask, class Shape, bool Ragged>
void launch(const registry::problem& p, const registry::memories& where, const tile_plan& plan, unsigned depth,
            backend::cuda::queue& q) {
  auto* const kernel =
      reinterpret_cast<const void*>(stay_resident<T, Mask, Shape::columns, Shape::rows, Shape::warps, Ragged>);
  const sizes s(p);
  const std::size_t bytes =
      resident_rows<T, Mask, Shape::columns, Shape::rows, Ragged>::room_bytes(static_cast<int>(plan.warps)) +
      list_bytes(Shape::width, plan.warps * Shape::rows, depth * radius_of(Mask));
  const bool exchanges = s.steps > depth;
  const std::uint64_t packet_bytes = exchanges ? s.elements() * sizeof(packet<T>) : 0;
  const backend::buffer both(q, 2 * packet_bytes);
  exchange_fields<T> exchange{{both.as<packet<T>>(), both.as<packet<T>>() + packet_bytes / sizeof(packet<T>)}};
  if (exchanges) TW_CUDA(cudaMemsetAsync(exchange.side[0], 0, 2 * packet_bytes, q.stream()));  // of no round
  TW_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
  const T* from = where.in[0].as<const T>();
  T* to = where.out[0].as<T>();
  field<T> f(p);
  auto steps = static_cast<unsigned>(s.steps);
  void* arguments[]{&from, &to, &f, &exchange, &steps, &depth};
  TW_CUDA(cudaLaunchCooperativeKernel(kernel, dim3(plan.across, plan.down), dim3(plan.warps * warp_lanes), arguments,
                                      bytes, q.stream()));
}

void run(const registry::problem& p, const registry::memories& where, const registry::tuning& t, backend::queue& on) {
  auto& q = backend::cuda::enter(on);
  if (copies_only(p, where, q)) return;
  with_type_and_mask(p, [&]<class T, mask Mask>(T, mask_constant<Mask>) {
    const auto go = [&]<class Shape>(Shape, const tile_plan& plan) {
      plan.is_ragged ? launch<T, Mask, Shape, true>(p, where, plan, t[0], q)
                     : launch<T, Mask, Shape, false>(p, where, plan, t[0], q);
    };
    if (const tile_plan plan = plan_of<small_tile>(p, q.device(), t[0]))
      go(small_tile{}, plan);
    else
      go(large_tile{}, plan_of<large_tile>(p, q.device(), t[0]));
  });
}

std::string unsupported(const registry::problem& p, const backend::device& on, const registry::tuning& t) {
  if (sizes(p).steps > 0x7fffffff) return "its steps are counted in 31 bits";
  if (plan_of<small_tile>(p, on, t[0]) || plan_of<large_tile>(p, on, t[0])) return "";
  return "the field does not fit the " + std::to_string(on.info().compute_units) + " multiprocessors of " +
         on.info().name;
}

}  // namespace

registry::variant resident_variant() {
  return {.algorithm = "diffuse",
          .backend = "cuda",
          .name = "resident",
          .types = field_types,
          .source =
              "the time loop in one persistent kernel: L. Zhang et al., PERKS: a locality-optimized execution "
              "model for iterative memory-bound GPU applications (2023)",
          .tuning = axes,
          .unsupported = unsupported,
          .run = run};
}

}  // namespace tilewise::impl::diffuse
