// What:   all steps in one launch, of a field that fits the registers of the chip.
// Order:  diffuse_cuda.cuh.
// Shape:  a group holds a tile and its halo: a thread a column of `Rows` elements in registers, with a copy of all in
//         shared memory for its neighbours. After `steps` steps the halo is used up: the group writes the frame of its
//         tile to global memory, raises its flag, waits for the flags of its neighbours alone, and reads their frames.
//         Frames lie in two fields in turns: a group that is a round ahead writes to the other one, and two ahead it
//         cannot be. All groups must run at once, so the launch is a cooperative one.
// Limits: as many tiles as there are multiprocessors.
// Twins:  diffuse_serial.cpp.
#include "diffuse/diffuse_cuda.cuh"
#include "diffuse/diffuse_cuda.hpp"

namespace tilewise::impl::diffuse {

namespace {

constexpr std::array<unsigned, 4> depths{1, 2, 4, 8};
constexpr std::array<registry::tuning_axis, 1> axes{{{"steps", depths, 4}}};

template <class T>
struct frames {
  T* side[2];
  unsigned* flags;  // of each group, the rounds it has written
};

template <class T, mask Mask, int Width, int Threads, int Rows>
struct resident_tile {
  static constexpr int radius = radius_of(Mask);
  static constexpr int height = Threads / Width * Rows;
  static constexpr unsigned shared_bytes = 2 * height * Width * sizeof(T);

  const field<T>& f;
  T* shared;          // two copies of the tile
  int x, y;           // of the thread's first element in the tile
  std::int64_t i, j;  // and in the field
  T values[Rows];

  __device__ __forceinline__ bool is_column() const { return i >= 0 && i < f.columns; }
  __device__ __forceinline__ T& at(int side, int row, int column) const {
    return shared[(side * height + row) * Width + column];
  }

  /// The row in the tile of the element that a row stands for: an edge's for a ghost, and within the tile.
  __device__ __forceinline__ int row_for(int row) const {
    const std::int64_t top = j - y;
    return static_cast<int>(field<T>::within(field<T>::within(top + row, f.rows) - top, height));
  }
  __device__ __forceinline__ int column_for(int column) const {
    const std::int64_t left = i - x;
    return static_cast<int>(field<T>::within(field<T>::within(left + column, f.columns) - left, Width));
  }

  __device__ __forceinline__ void load(const T* from) {
#pragma unroll
    for (int k = 0; k < Rows; ++k) {
      const std::int64_t row = f.within(j + k, f.rows), column = f.within(i, f.columns);
      values[k] = f.in_strip(row, column) ? T(1) : __ldcg(from + row * f.columns + column);
    }
  }

  __device__ __forceinline__ void share(int side) const {
#pragma unroll
    for (int k = 0; k < Rows; ++k) at(side, y + k, x) = values[k];
  }

  /// From one copy in shared memory and the registers to the registers and the other copy.
  __device__ __forceinline__ void step(int side, bool is_last) {
    T column[Rows + 2 * radius];
    int columns[2 * radius + 1];
#pragma unroll
    for (int r = 0; r < radius; ++r) {
      column[r] = at(side, row_for(y + r - radius), x);
      column[Rows + radius + r] = at(side, row_for(y + Rows + r), x);
    }
#pragma unroll
    for (int k = 0; k < Rows; ++k) column[radius + k] = values[k];
#pragma unroll
    for (int dx = -radius; dx <= radius; ++dx) columns[radius + dx] = column_for(x + dx);
#pragma unroll
    for (int k = 0; k < Rows; ++k)
      values[k] = stepped<Mask>(f.w, [&](int dy, int dx) {
        if (dx == 0) return column[radius + k + dy];
        return at(side, dy == 0 ? y + k : row_for(y + k + dy), columns[radius + dx]);
      });
    if (is_last) return;
      // What the next step reads.
#pragma unroll
    for (int k = 0; k < Rows; ++k)
      if (is_column() && f.in_strip(j + k, i)) values[k] = 1;
    set_ghosts();
    share(1 - side);
  }

  /// Ghosts of rows beside the edge's element in the same thread; other ghosts are never read.
  __device__ __forceinline__ void set_ghosts() {
#pragma unroll
    for (int k = Rows - 2; k >= 0; --k)
      if (j + k < 0) values[k] = values[k + 1];
#pragma unroll
    for (int k = 1; k < Rows; ++k)
      if (j + k >= f.rows) values[k] = values[k - 1];
  }

  /// The halo as the neighbours wrote it; the rest is in the registers.
  __device__ __forceinline__ void load_halo(const T* theirs, int halo) {
    const bool is_inner = x >= halo && x < Width - halo;
#pragma unroll
    for (int k = 0; k < Rows; ++k) {
      if (!is_column() || j + k < 0 || j + k >= f.rows) continue;
      if (is_inner && y + k >= halo && y + k < height - halo) continue;
      values[k] = f.in_strip(j + k, i) ? T(1) : __ldcg(theirs + (j + k) * f.columns + i);
    }
    set_ghosts();
  }

  /// Of the tile without its halo, what is not further than `frame` from its sides; all of it for a large one.
  __device__ __forceinline__ void store(T* to, int halo, int frame, bool is_result) const {
    if (!is_column() || x < halo || x >= Width - halo) return;
    const bool is_side = x < halo + frame || x >= Width - halo - frame;
#pragma unroll
    for (int k = 0; k < Rows; ++k) {
      const int row = y + k;
      if (row < halo || row >= height - halo || j + k >= f.rows) continue;
      if (!is_side && row >= halo + frame && row < height - halo - frame) continue;
      T* const target = to + (j + k) * f.columns + i;
      if (is_result)
        *target = order::canonical(values[k]);
      else
        __stcg(target, values[k]);
    }
  }
};

/// The group's own flag goes up, and the threads 0 to 8 wait for those of the groups around it.
__device__ __forceinline__ void meet_neighbours(unsigned* flags, unsigned round) {
  __threadfence();
  __syncthreads();
  const unsigned across = gridDim.x, down = gridDim.y;
  if (threadIdx.x == 0) atomicExch(flags + blockIdx.y * across + blockIdx.x, round);
  if (threadIdx.x < 9) {
    const int column = static_cast<int>(blockIdx.x) + static_cast<int>(threadIdx.x % 3) - 1;
    const int row = static_cast<int>(blockIdx.y) + static_cast<int>(threadIdx.x / 3) - 1;
    if (column >= 0 && column < static_cast<int>(across) && row >= 0 && row < static_cast<int>(down)) {
      const volatile unsigned* const flag = flags + row * across + column;
      while (*flag < round) {
      }
    }
    __threadfence();
  }
  __syncthreads();
}

template <class T, mask Mask, int Width, int Threads, int Rows>
__global__ void __launch_bounds__(Threads, 1) stay_resident(const T* from, T* to, const __grid_constant__ field<T> f,
                                                            frames<T> exchange, unsigned steps, unsigned depth) {
  using tile_type = resident_tile<T, Mask, Width, Threads, Rows>;
  extern __shared__ __align__(16) unsigned char room[];
  const int halo = static_cast<int>(depth) * tile_type::radius;
  const int x = static_cast<int>(threadIdx.x) % Width, y = static_cast<int>(threadIdx.x) / Width * Rows;
  const std::int64_t i = std::int64_t{blockIdx.x} * (Width - 2 * halo) - halo + x;
  const std::int64_t j = std::int64_t{blockIdx.y} * (tile_type::height - 2 * halo) - halo + y;
  tile_type tile{f, reinterpret_cast<T*>(room), x, y, i, j, {}};
  tile.load(from);
  tile.share(0);
  unsigned left = steps;
  for (unsigned round = 1;; ++round) {
    const unsigned now = left < depth ? left : depth;
    int side = 0;
    for (unsigned step = 0; step < now; ++step, side = 1 - side) {
      __syncthreads();
      tile.step(side, step + 1 == left);
    }
    left -= now;
    if (left == 0) break;
    tile.store(exchange.side[round % 2], halo, halo, false);
    meet_neighbours(exchange.flags, round);
    tile.load_halo(exchange.side[round % 2], halo);
    tile.share(0);
  }
  tile.store(to, halo, Width > tile_type::height ? Width : tile_type::height, true);
}

/// Tiles of one kernel: small ones share a small field among more multiprocessors.
template <int Width, int Threads, int Rows>
struct tile_size {
  static constexpr int width = Width, threads = Threads, rows = Rows, height = Threads / Width * Rows;
};
using small_tile = tile_size<64, 512, 8>;
using large_tile = tile_size<128, 1024, 12>;

template <class Size>
bool fits(const registry::problem& p, const backend::device& on, unsigned depth) {
  const std::uint64_t halo = 2 * depth * radius_of(mask_of(p));
  if (halo >= Size::width || halo >= Size::height) return false;
  if (2 * Size::width * Size::height * size_of(p.type) > on.info().local_memory) return false;
  const std::uint64_t tiles =
      parts_of(sizes(p).columns, Size::width - halo) * parts_of(sizes(p).rows, Size::height - halo);
  return tiles <= on.info().compute_units;
}

template <class T, mask Mask, class Size>
void launch(const registry::problem& p, const registry::memories& where, unsigned depth, backend::cuda::queue& q) {
  using tile_type = resident_tile<T, Mask, Size::width, Size::threads, Size::rows>;
  auto* const kernel = stay_resident<T, Mask, Size::width, Size::threads, Size::rows>;
  const sizes s(p);
  const unsigned halo = 2 * depth * radius_of(Mask);
  const dim3 groups(static_cast<unsigned>(parts_of(s.columns, Size::width - halo)),
                    static_cast<unsigned>(parts_of(s.rows, Size::height - halo)));
  const std::uint64_t flag_bytes = groups.x * groups.y * sizeof(unsigned);
  const backend::buffer first(q, s.elements() * sizeof(T)), second(q, s.elements() * sizeof(T)), flags(q, flag_bytes);
  frames<T> exchange{{first.as<T>(), second.as<T>()}, flags.as<unsigned>()};
  TW_CUDA(cudaMemsetAsync(exchange.flags, 0, flag_bytes, q.stream()));
  TW_CUDA(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize,
                               tile_type::shared_bytes));
  const T* from = where.in[0].as<const T>();
  T* to = where.out[0].as<T>();
  field<T> f(p);
  auto steps = static_cast<unsigned>(s.steps);
  void* arguments[]{&from, &to, &f, &exchange, &steps, &depth};
  TW_CUDA(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), groups, dim3(Size::threads), arguments,
                                      tile_type::shared_bytes, q.stream()));
}

void run(const registry::problem& p, const registry::memories& where, const registry::tuning& t, backend::queue& on) {
  auto& q = backend::cuda::enter(on);
  if (copies_only(p, where, q)) return;
  with_type_and_mask(p, [&]<class T, mask Mask>(T, mask_constant<Mask>) {
    fits<small_tile>(p, q.device(), t[0]) ? launch<T, Mask, small_tile>(p, where, t[0], q)
                                          : launch<T, Mask, large_tile>(p, where, t[0], q);
  });
}

std::string unsupported(const registry::problem& p, const backend::device& on, const registry::tuning& t) {
  if (sizes(p).steps > 0x7fffffff) return "its steps are counted in 31 bits";
  if (fits<small_tile>(p, on, t[0]) || fits<large_tile>(p, on, t[0])) return "";
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
