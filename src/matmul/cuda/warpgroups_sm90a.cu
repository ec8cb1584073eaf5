// SPDX-License-Identifier: Apache-2.0
// What:   C by Hopper's warpgroups: four warps multiply at once, and take one factor from shared memory, where bulk
//         copies bring it.
// Order:  own: A and B are rounded to 10 bits of fraction on their way, to nearest and ties to even, and the hardware
//         adds eight products at a time.
// Shape:  32 x 64 to 256 x 128 of C for a group, of which each compute unit has one or two, for all of its tiles in
//         turn: one lane copies the next steps of 32 k's, of this tile or the next, while one or two warpgroups
//         multiply, 64 columns each.
// Limits: f32; compute capability 9.0 alone, for whose own code this is compiled (sm_90a); rows of A and B begin at
//         multiples of 16 bytes; K is not 0; sizes below 2^31.
// Twins:  tensor.cuh.
//
// The instruction needs both factors by rows of K. A is stored so, B is not. But the first factor may come from
// registers, which can be loaded in any order. So the kernel computes the transposed product, with B as the first
// factor and A as the second: all rows of C by 64 columns at once.
#include "backend/cuda/pipeline.cuh"
#include "backend/cuda/tensor_map.hpp"
#include "matmul/cuda/copy.cuh"
#include "matmul/cuda/shared.cuh"
#include "matmul/cuda/warpgroups.hpp"

#include <algorithm>

namespace tilewise::impl::matmul {

namespace {

using backend::cuda::barrier;
using backend::cuda::box_columns;
using backend::cuda::shared_address;

constexpr unsigned depth = box_columns;  // of a step
constexpr unsigned product_depth = 8, products = depth / product_depth;

/// The tile of a group. One instruction takes all its rows; each warpgroup takes 64 of its columns.
template <unsigned Speed, unsigned Rows, unsigned Columns, unsigned Groups>
struct shape {
  static constexpr unsigned rows = Rows, columns = Columns, groups_a_unit = Groups, speed = Speed;
};

/// In the order of `warpgroup_tiles`. With these speeds the choice by size is the fastest of the six at each of 17
/// sizes that were timed on an H200, and within 5 % of it where one of them is off by a tenth.
using shapes = tile_shapes<88, shape<33, 32, 64, 2>, shape<51, 64, 64, 2>, shape<65, 96, 64, 2>, shape<58, 128, 64, 1>,
                           shape<76, 128, 128, 1>, shape<100, 256, 128, 1>>;

/// How a group computes tiles of one of these shapes.
template <class Shape>
struct plan : Shape {
  static constexpr unsigned a_size = Shape::rows * depth, stage_size = a_size + Shape::columns * depth,
                            stage_bytes = stage_size * sizeof(float) + 2 * sizeof(barrier);
  // A unit has 228 KiB of shared memory, of which the driver takes 1 KiB a group.
  static constexpr unsigned most_bytes = 228 * 1024 / Shape::groups_a_unit - 1024;
  static constexpr unsigned stages = std::min(most_bytes / stage_bytes, 8u), shared_bytes = stages * stage_bytes;
  static_assert(stages >= 4);

  static constexpr unsigned chains = Shape::rows / 2;  // of a lane
  static constexpr unsigned consumers = Shape::columns / 64 * 128;
  // So many chains do not fit an even share of the registers. Only a whole warpgroup can give up some of its own.
  static constexpr bool moves_registers = chains == 128 && consumers == 256;
  static constexpr unsigned threads = consumers + (moves_registers ? 128 : warp_size);
};

/// On an H100 squares of 4096 are 7 % faster than with bands of 8, of 8192 1 %.
constexpr unsigned band_of_tiles = 16;

template <class P>
struct task : operands<float> {
  unsigned tiles, steps;  // steps of a tile

  task(const registry::problem& p, const registry::bindings& where)
      : operands<float>(p, where),
        tiles(static_cast<unsigned>(tiles_of(*this, P::rows, P::columns))),
        steps(static_cast<unsigned>(ceil_div(k, depth))) {}

  __device__ tile_place place(unsigned tile) const { return place_of<band_of_tiles>(*this, P::rows, P::columns, tile); }
};

/// Stages in shared memory, as the lane that fills them and each warp that reads them go round: a stage is a box of A
/// and some of B.
template <class P>
struct ring {
  float* first;
  barrier *full, *empty;
  unsigned stage = 0, parity = 0;

  __device__ explicit ring(float* shared)
      : first(shared), full(reinterpret_cast<barrier*>(shared + P::stages * P::stage_size)), empty(full + P::stages) {}
  __device__ float* memory() const { return first + stage * P::stage_size; }
  __device__ void advance() {
    if (++stage == P::stages) stage = 0, parity ^= 1;
  }
};

/// c += b a for 8 k's, of all warps of a warpgroup. Lane l of warp w holds of b the rows r = 16w + l/4 and r+8 of
/// column l%4, then of the column 4 to the right; of c columns 2(l%4) and the next, row r before row r+8, of every 8
/// columns. The instruction names every register: its chains are operands 0, 1, ..., and b's four and a follow.
#define CHAINS_4(i) "+f"(c[i]), "+f"(c[i + 1]), "+f"(c[i + 2]), "+f"(c[i + 3])
#define CHAINS_16(i) CHAINS_4(i), CHAINS_4(i + 4), CHAINS_4(i + 8), CHAINS_4(i + 12)
#define CHAINS_32(i) CHAINS_16(i), CHAINS_16(i + 16)
#define TEN(t) "%" #t "0,%" #t "1,%" #t "2,%" #t "3,%" #t "4,%" #t "5,%" #t "6,%" #t "7,%" #t "8,%" #t "9,"
#define MULTIPLY(rows, chains, factors, ...)                                                                      \
  __device__ inline void multiply(float(&c)[rows / 2], const unsigned* b, std::uint64_t a) {                      \
    asm volatile("wgmma.mma_async.sync.aligned.m64n" #rows "k8.f32.tf32.tf32 {" chains "}, " factors ", 1, 1, 1;" \
                 : __VA_ARGS__                                                                                    \
                 : "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "l"(a));                                           \
  }
MULTIPLY(32, TEN() "%10,%11,%12,%13,%14,%15", "{%16,%17,%18,%19}, %20", CHAINS_16(0))
MULTIPLY(64, TEN() TEN(1) TEN(2) "%30,%31", "{%32,%33,%34,%35}, %36", CHAINS_32(0))
MULTIPLY(96, TEN() TEN(1) TEN(2) TEN(3) "%40,%41,%42,%43,%44,%45,%46,%47", "{%48,%49,%50,%51}, %52", CHAINS_32(0),
         CHAINS_16(32))
MULTIPLY(128, TEN() TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) "%60,%61,%62,%63", "{%64,%65,%66,%67}, %68", CHAINS_32(0),
         CHAINS_32(32))
MULTIPLY(256,
         TEN() TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) TEN(9) TEN(10)
             TEN(11) "%120,%121,%122,%123,%124,%125,%126,%127",
         "{%128,%129,%130,%131}, %132", CHAINS_32(0), CHAINS_32(32), CHAINS_32(64), CHAINS_32(96))
#undef CHAINS_4
#undef CHAINS_16
#undef CHAINS_32
#undef TEN
#undef MULTIPLY

__device__ inline void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void commit_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
/// Until at most `Left` commits are under way.
template <unsigned Left>
__device__ void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Left) : "memory");
}

/// The values are in registers here: products that are under way read and write them unseen by the compiler.
template <class T, unsigned Count>
__device__ void settle(T (&values)[Count]) {
#pragma unroll
  for (T& x : values)
    if constexpr (std::is_same_v<T, float>)
      asm volatile("" : "+f"(x)::"memory");
    else
      asm volatile("" : "+r"(x)::"memory");
}

template <class P>
__device__ void produce(const task<P>& t, const CUtensorMap& a, const CUtensorMap& b, ring<P> r) {
  for (unsigned tile = blockIdx.x; tile < t.tiles; tile += gridDim.x) {
    const tile_place at = t.place(tile);
    const auto row = static_cast<unsigned>(at.row), column = static_cast<unsigned>(at.column);
    for (unsigned step = 0; step < t.steps; ++step, r.advance()) {
      float* const to = r.memory();
      barrier& full = r.full[r.stage];
      r.empty[r.stage].wait(r.parity ^ 1);
      full.arrive_expecting(P::stage_size * sizeof(float));
      full.copy_box(to, &a, step * depth, row);
#pragma unroll
      for (unsigned x = 0; x < P::columns; x += box_columns)
        full.copy_box(to + P::a_size + x * depth, &b, column + x, step * depth);
    }
  }
}

/// Where a lane's two columns lie, which are neighbours. Which of B's columns are which rows of the instruction's
/// factor is free: so chosen that the 16 lanes that load together meet all 32 banks, and that of C four lanes store 32
/// bytes.
struct lane_place {
  unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size, quad = lane / 4;
  unsigned chunk = warp % 2 * 2 + quad / 4 + quad % 2 * 4, half = quad % 4 / 2 * 2;  // of a row of a box of B
  unsigned column = warp / 2 * box_columns + chunk * 4 + half;                       // of the tile

  /// Of row lane % 4, or of that 4 below it, in a stage's boxes of B.
  __device__ unsigned offset(unsigned below) const {
    const unsigned row = lane % 4 + below;
    return warp / 2 * box_columns * depth + row * box_columns + (chunk ^ row) * 4 + half;
  }
};

template <class P>
__device__ void store(const task<P>& t, unsigned tile, const lane_place& me, const float (&chains)[P::chains]) {
  const tile_place at = t.place(tile);
  const bool in_pairs = (reinterpret_cast<std::uintptr_t>(t.c) | t.ldc * sizeof(float)) % (2 * sizeof(float)) == 0;
#pragma unroll
  for (unsigned y = 0; y < P::rows / 4; ++y) {
    const std::uint64_t i = at.row + y / 2 * 8 + me.lane % 4 * 2 + y % 2;
    if (i >= t.m) continue;
    const float pair[2] = {chains[y / 2 * 4 + y % 2], chains[y / 2 * 4 + y % 2 + 2]};
    store_row<2>(t.c + i * t.ldc, at.column + me.column, t.n, pair, in_pairs);
  }
}

template <class P>
__device__ void consume(const task<P>& t, ring<P> r) {
  const lane_place me;
  const unsigned offsets[2] = {P::a_size + me.offset(0), P::a_size + me.offset(4)};
  // Of A's box: its swizzle of 128 bytes, 1024 bytes from 8 rows to the next.
  const std::uint64_t form = std::uint64_t{1} << 62 | std::uint64_t{1024 >> 4} << 32 | std::uint64_t{1} << 16;
  const auto release = [&](unsigned stage) {
    __syncwarp();
    if (me.lane == 0) r.empty[stage].arrive();
  };
  for (unsigned tile = blockIdx.x; tile < t.tiles; tile += gridDim.x) {
    float chains[P::chains]{};
    settle(chains);
    unsigned before = 0;  // the stage of the step before, whose products are under way
    const auto multiply_step = [&](unsigned(&factors)[4 * products], bool is_first) {
      const float* const from = r.memory();
      r.full[r.stage].wait(r.parity);
#pragma unroll
      for (unsigned i = 0; i < 2 * products; ++i) {
        const float2 pair =
            *reinterpret_cast<const float2*>(from + offsets[i % 2] + i / 2 * product_depth * box_columns);
        factors[2 * i] = __float_as_uint(pair.x), factors[2 * i + 1] = __float_as_uint(pair.y);
      }
      settle(factors);
      begin_products();
      const std::uint64_t a = form | shared_address(from) >> 4;
#pragma unroll
      for (unsigned i = 0; i < products; ++i)
        multiply(chains, factors + 4 * i, a + i * product_depth * sizeof(float) / 16);
      commit_products();
      wait_for_products<1>();
      if (!is_first) release(before);
      before = r.stage;
      r.advance();
    };
    // Steps take turns with two sets of factors, so that one is loaded while the products of the other are under way.
    // The loop is left in its midst, as the compiler must see that no set is written before its products have ended.
    unsigned factors[2][4 * products];
    for (unsigned step = 0; step < t.steps; step += 2) {
      multiply_step(factors[0], step == 0);
      if (step + 1 == t.steps) break;
      multiply_step(factors[1], false);
    }
    wait_for_products<0>();
    release(before);
    settle(chains);
    store(t, tile, me, chains);
  }
}

template <class P>
__global__ void __launch_bounds__(P::threads, P::groups_a_unit)
    warpgroup_tiles(const task<P> t, const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b) {
  extern __shared__ __align__(1024) float shared[];
  ring<P> r(shared);
  if (threadIdx.x == 0)
    for (unsigned stage = 0; stage < P::stages; ++stage) {
      r.full[stage].open(1);
      r.empty[stage].open(P::consumers / warp_size);
    }
  __syncthreads();
  if (threadIdx.x < P::consumers) {
    if constexpr (P::moves_registers) asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    consume(t, r);
  } else {
    if constexpr (P::moves_registers) asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    if (threadIdx.x == P::consumers) produce(t, a, b, r);
  }
}

template <class P>
void launch(const task<P>& t, unsigned units, cudaStream_t stream) {
  TW_CUDA(cudaFuncSetAttribute(warpgroup_tiles<P>, cudaFuncAttributeMaxDynamicSharedMemorySize, P::shared_bytes));
  warpgroup_tiles<P><<<std::min(t.tiles, units * P::groups_a_unit), P::threads, P::shared_bytes, stream>>>(
      t, backend::cuda::tf32_map(t.a, t.m, t.k, t.lda, P::rows), backend::cuda::tf32_map(t.b, t.k, t.n, t.ldb, depth));
  TW_CUDA(cudaGetLastError());
}

}  // namespace

std::string warpgroups_unsupported(const registry::problem& p, unsigned tile, const backend::device& on) {
  constexpr unsigned capability = 90;  // neither older devices nor later ones have these instructions
  constexpr std::uint64_t most = std::uint64_t{1} << 31;
  const sizes s(p);
  if (on.info().compute_capability != capability) return "products of warpgroups need compute capability 9.0";
  if (s.k == 0) return "there is nothing to copy where K is 0";
  if (std::max({s.m, s.n, s.k, s.lda, s.ldb}) >= most) return "bulk copies take sizes below 2^31";
  if (!backend::cuda::has_tensor_maps()) return "the NVIDIA driver makes no tensor maps";
  return shapes::too_many(p, tile, on);
}

void run_warpgroups(const registry::problem& p, const registry::bindings& where, unsigned tile,
                    backend::cuda::queue& q) {
  shapes::with(shapes::choose(sizes(p), tile, q.device()), [&]<class S>(S) {
    launch(task<plan<S>>(p, where), static_cast<unsigned>(units_of(q.device())), q.stream());
  });
}

}  // namespace tilewise::impl::matmul
