// SPDX-License-Identifier: Apache-2.0
// What:   scan in one pass over memory: each element is read once and written once.
// Order:  a tile publishes its block value; a scout folds its carry from the nodes of the tree over tiles
//         (scan_cuda_nodes.cuh); a downsweep from that carry makes P(i) for every i of the tile. All carries are folds
//         of block values, never of prefixes, so timing changes nothing. In a part of a longer array they are folds
//         onto the prefix before it, and the last inclusive output is of the prefix after it.
// Shape:  one group per compute unit, as long as there are tiles; its warps have four roles and pass slots of shared
//         memory along in a ring: the producer draws a tile and starts its bulk copy; reduce warps make the values of
//         its rows, of its chunks and of the whole, and publish the last; the scout waits for the carry; finish warps
//         load their chunk, free the slot, and write once the carry arrives. No publishing role waits for a carry.
// Limits: compute capability 9.0; fewer than 32^5 tiles; works in place. Where an array is not aligned to 16 bytes, and
//         for the last tile, elements move one by one.
// Twins:  scan_serial.cpp, scan_cuda_blelloch.cu, scan.cl.
#include "backend/cuda/cuda_dispatch.hpp"
#include "backend/cuda/cuda_error.hpp"
#include "backend/cuda/cuda_pipeline.cuh"
#include "backend/cuda/cuda_queue.hpp"
#include "base/ceil_div.hpp"
#include "scan/scan_cuda.cuh"
#include "scan/scan_cuda.hpp"
#include "scan/scan_cuda_nodes.cuh"
#include "scan/scan_cuda_prefixes.cuh"

#include <algorithm>

namespace tilewise::impl::scan {

namespace {

using namespace backend::cuda;

constexpr unsigned rows = 8;                 // of a chunk: what a finish warp holds in registers, 128 bytes a lane
constexpr unsigned reduce_warps = 8;         // 4 are 2 % slower on an H200 at 2^28 floats
constexpr unsigned slot_bytes = 192 * 1024;  // in flight on one compute unit, beside what the finish warps hold

template <class T>
constexpr unsigned chunk_length = rows* row_length<T>;
template <class T, unsigned Chunks>
constexpr unsigned tile_length = Chunks* chunk_length<T>;
template <unsigned Chunks>
constexpr unsigned group_size = (2 + reduce_warps + Chunks) * warp_size;
[[maybe_unused]] constexpr std::uint64_t no_tile = ~std::uint64_t{0};  // not used where the kernels are empty

/// Integers' min and max are one kernel for each width, the max of unsigned codes: x ^ code_of orders the elements, or
/// orders them the other way round. The identity is the code 0.
template <class T, class Op>
constexpr bool has_codes = std::is_integral_v<T>&& Op::id == op::max;
template <class T>
T code_of(const registry::problem& p) {
  const bool is_signed = p.type == dtype::i32 || p.type == dtype::i64;
  const T sign = T{is_signed} << (8 * sizeof(T) - 1);
  return operation_of(p) == op::max ? sign : ~sign;
}

template <class T, class Op>
struct work {
  const T* x;
  T* out;
  std::uint64_t n, tiles;
  bool packable_in, packable_out;
  output_rule<T, Op> rule;
  std::uint64_t* counter;  // epoch in the high half, tiles drawn in the low one
  node_table nodes;
  T code;         // see has_codes
  const T* ends;  // see carry_of
};

/// A tile on its way through the group.
template <class T, unsigned Chunks>
struct alignas(128) slot {
  T x[tile_length<T, Chunks>];
  T row_value[Chunks * rows];
  T chunk_value[Chunks];
  std::uint64_t tile;
  barrier full, reduced, empty;
};

/// There are two of these for each slot: a slot is refilled while the finish warps still wait for its carry.
template <class T>
struct carry_slot {
  carry_pair<T> carry;
  barrier ready;
};

template <class T, unsigned Chunks>
struct shared_state {
  static constexpr unsigned slots = slot_bytes / (tile_length<T, Chunks> * sizeof(T));
  slot<T, Chunks> in[slots];
  carry_slot<T> carries[2 * slots];
  unsigned epoch;
};

/// Where in a ring of `Length` the n-th use lies, and that use's parity.
template <unsigned Length>
struct ring {
  unsigned use = 0;
  __device__ unsigned place() const { return use % Length; }
  __device__ unsigned parity() const { return use / Length % 2; }
  __device__ bool reused() const { return use >= Length; }
};

/// The launch's next tile. The last draw of all begins the next epoch, so a launch leaves nothing to clear.
template <class T, class Op>
__device__ std::uint64_t draw(const work<T, Op>& w) {
  const unsigned long long drawn = atomicAdd(reinterpret_cast<unsigned long long*>(w.counter), 1ull);
  if (static_cast<unsigned>(drawn) == w.tiles + gridDim.x - 1)
    atomicExch(reinterpret_cast<unsigned long long*>(w.counter), ((drawn >> 32) + 1) << 32);
  return drawn;
}

template <class T, class Op, unsigned Chunks>
__device__ bool is_whole(const work<T, Op>& w, std::uint64_t tile) {
  return (tile + 1) * tile_length<T, Chunks> <= w.n;
}

/// From elements to codes, or back.
template <class T, class Op>
__device__ T recoded(const work<T, Op>& w, T value) {
  if constexpr (has_codes<T, Op>) value ^= w.code;
  return value;
}
template <class T, class Op>
__device__ void recode(const work<T, Op>& w, pack<T>& values) {
#pragma unroll
  for (unsigned i = 0; i < pack_length<T>; ++i) values.at[i] = recoded(w, values.at[i]);
}

/// One lane. A tile is drawn only when its slot is free: one that were held back would hold up all newer ones.
template <class T, class Op, unsigned Chunks>
__device__ void produce(const work<T, Op>& w, shared_state<T, Chunks>& s) {
  for (ring<s.slots> r;; ++r.use) {
    slot<T, Chunks>& to = s.in[r.place()];
    if (r.reused()) to.empty.wait(r.parity() ^ 1);
    const std::uint64_t drawn = draw(w), tile = static_cast<unsigned>(drawn);
    if (r.use == 0) s.epoch = static_cast<unsigned>(drawn >> 32) + 1;
    to.tile = tile < w.tiles ? tile : no_tile;
    if (tile < w.tiles && w.packable_in && is_whole<T, Op, Chunks>(w, tile))
      to.full.arrive_with_copy(to.x, w.x + tile * tile_length<T, Chunks>, sizeof to.x);
    else
      to.full.arrive();
    if (tile >= w.tiles) return;
  }
}

/// One warp.
template <class T, class Op, unsigned Chunks>
__device__ void scout(const work<T, Op>& w, shared_state<T, Chunks>& s) {
  const unsigned lane = threadIdx.x % warp_size;
  const T first = w.ends == nullptr ? Op::template identity<T>() : recoded(w, w.ends[0]);
  for (ring<s.slots> r;; ++r.use) {
    slot<T, Chunks>& of = s.in[r.place()];
    of.full.wait(r.parity());
    const std::uint64_t tile = of.tile;
    if (tile == no_tile) return;
    of.reduced.wait(r.parity());
    const T own = warp_tree<Op, Chunks>(of.chunk_value[lane % Chunks]);
    __syncwarp();  // every lane has read the slot
    if (lane == 0) of.empty.arrive();
    publish_completed<Op>(w.nodes, s.epoch, tile, own);
    const carry_pair<T> carry = look_back<Op>(w.nodes, s.epoch, tile, own, first);
    carry_slot<T>& to = s.carries[r.use % (2 * s.slots)];
    if (lane != 0) continue;
    to.carry = carry;
    to.ready.arrive();
  }
}

/// The packs of a chunk, from the slot or, where no bulk copy could bring them, from memory into the slot.
template <class T, class Op, unsigned Chunks>
__device__ void load_chunk(const work<T, Op>& w, slot<T, Chunks>& from, unsigned chunk, pack<T> (&loaded)[rows]) {
  const bool copied = w.packable_in && is_whole<T, Op, Chunks>(w, from.tile);
#pragma unroll
  for (unsigned r = 0; r < rows; ++r) {
    const unsigned at = chunk * chunk_length<T> + r * row_length<T> + threadIdx.x % warp_size * pack_length<T>;
    pack<T>& here = reinterpret_cast<pack<T>&>(from.x[at]);
    if (!copied) here = load_pack_part<Op>(w.x, from.tile * tile_length<T, Chunks> + at, w.n);
    loaded[r] = here;  // what it has beyond the end is in no block that a result is made of
    recode(w, loaded[r]);
  }
}

/// reduce_warps warps. Publishing comes first, whatever older tiles do.
template <class T, class Op, unsigned Chunks>
__device__ void reduce(const work<T, Op>& w, shared_state<T, Chunks>& s, unsigned warp) {
  const unsigned lane = threadIdx.x % warp_size;
  for (ring<s.slots> r;; ++r.use) {
    slot<T, Chunks>& of = s.in[r.place()];
    of.full.wait(r.parity());
    if (of.tile == no_tile) return;
    for (unsigned chunk = warp; chunk < Chunks; chunk += reduce_warps) {
      pack<T> loaded[rows];
      load_chunk(w, of, chunk, loaded);
      T row[rows];
#pragma unroll
      for (unsigned i = 0; i < rows; ++i) row[i] = tree_of<Op, pack_length<T>>(loaded[i].at);
      const T row_value = rows_tree<Op, rows>(row), chunk_value = warp_tree<Op, rows>(row_value);
      if (lane < rows) of.row_value[chunk * rows + lane] = row_value;
      if (lane == 0) of.chunk_value[chunk] = chunk_value;
    }
    asm volatile("bar.sync 1, %0;" ::"n"(reduce_warps * warp_size) : "memory");  // all chunks' values are there
    if (warp == 0) {
      const T own = warp_tree<Op, Chunks>(of.chunk_value[lane % Chunks]);
      if (lane == 0) send(sibling<T>(w.nodes, 0, of.tile, digit_of(of.tile, 0)), own, s.epoch);
    }
    if (lane == 0) of.reduced.arrive();
  }
}

/// Writes one row from P at its begin and at its end.
template <class T, class Op>
__device__ void finish_row(const work<T, Op>& w, const pack<T>& x, T before, T after, std::uint64_t first,
                           bool packed) {
  T p[pack_length<T> + 1];
  prefixes<Op, pack_length<T>>(x.at, lanes_prefix<Op>(tree_of<Op, pack_length<T>>(x.at), before), p);
  p[pack_length<T>] = __shfl_down_sync(all_lanes, p[0], 1);
  if (threadIdx.x % warp_size == warp_size - 1) p[pack_length<T>] = after;
  pack<T> y;
#pragma unroll
  for (unsigned i = 0; i < pack_length<T>; ++i) y.at[i] = w.rule(w.rule.shift != 0 ? p[i + 1] : p[i]);
  recode(w, y);
  if (packed) {
    __stcs(reinterpret_cast<uint4*>(w.out + first), __builtin_bit_cast(uint4, y));
  } else {
#pragma unroll
    for (unsigned i = 0; i < pack_length<T>; ++i)
      if (first + i < w.n) w.out[first + i] = y.at[i];
  }
}

/// The last output of a part of a longer array, if this lane has written it: the packs that begin at `first` and after
/// every further row.
template <class T, class Op>
__device__ void finish_part(const work<T, Op>& w, std::uint64_t first) {
  if (w.ends == nullptr || w.rule.shift == 0) return;
  const std::uint64_t further = w.n - 1 - first;  // huge where the lane is beyond it
  if (further < rows * row_length<T> && further % row_length<T> < pack_length<T>)
    w.out[w.n - 1] = recoded(w, w.rule(recoded(w, w.ends[1])));
}

/// One warp a chunk.
template <class T, class Op, unsigned Chunks>
__device__ void finish(const work<T, Op>& w, shared_state<T, Chunks>& s, unsigned chunk) {
  const unsigned lane = threadIdx.x % warp_size;
  for (ring<s.slots> r;; ++r.use) {
    slot<T, Chunks>& from = s.in[r.place()];
    from.full.wait(r.parity());
    const std::uint64_t tile = from.tile;
    if (tile == no_tile) return;
    from.reduced.wait(r.parity());
    pack<T> x[rows];
#pragma unroll
    for (unsigned i = 0; i < rows; ++i) {
      const T& first = from.x[chunk * chunk_length<T> + i * row_length<T> + lane * pack_length<T>];
      x[i] = reinterpret_cast<const pack<T>&>(first);
      recode(w, x[i]);
    }
    const T chunk_value = from.chunk_value[lane % Chunks], row_value = from.row_value[chunk * rows + lane % rows];
    __syncwarp();  // every lane has what it needs of the slot
    if (lane == 0) from.empty.arrive();

    carry_slot<T>& known = s.carries[r.use % (2 * s.slots)];
    known.ready.wait(r.use / (2 * s.slots) % 2);
    const T before_chunks = lanes_prefix<Op, Chunks>(chunk_value, known.carry.at);
    const T before_next = __shfl_sync(all_lanes, before_chunks, (chunk + 1) % Chunks);
    const T after_chunk = chunk + 1 < Chunks ? before_next : known.carry.next;
    const T before_rows = lanes_prefix<Op, rows>(row_value, __shfl_sync(all_lanes, before_chunks, chunk));
    const std::uint64_t first = tile * tile_length<T, Chunks> + chunk * chunk_length<T> + lane * pack_length<T>;
    const bool packed = w.packable_out && is_whole<T, Op, Chunks>(w, tile);
#pragma unroll
    for (unsigned i = 0; i < rows; ++i) {
      const T before = __shfl_sync(all_lanes, before_rows, i), next = __shfl_sync(all_lanes, before_rows, i + 1);
      finish_row(w, x[i], before, i + 1 < rows ? next : after_chunk, first + i * row_length<T>, packed);
    }
    finish_part(w, first);
  }
}

template <class T, class Op, unsigned Chunks>
__global__ void __launch_bounds__(group_size<Chunks>, 1) lookback(const work<T, Op> w) {
  if constexpr (!has_pipeline) {
    __trap();
  } else {
    extern __shared__ __align__(128) unsigned char bytes[];
    auto& s = *reinterpret_cast<shared_state<T, Chunks>*>(bytes);
    if (threadIdx.x == 0) {
      for (slot<T, Chunks>& each : s.in) {
        each.full.open(1);
        each.reduced.open(reduce_warps);
        each.empty.open(Chunks + 1);  // the finish warps and the scout
      }
      for (carry_slot<T>& each : s.carries) each.ready.open(1);
    }
    __syncthreads();  // the barriers are open
    const unsigned warp = threadIdx.x / warp_size;
    if (warp == 0) {
      if (threadIdx.x == 0) produce(w, s);
    } else if (warp == 1) {
      scout(w, s);
    } else if (warp < 2 + reduce_warps) {
      reduce(w, s, warp - 2);
    } else {
      finish(w, s, warp - 2 - reduce_warps);
    }
  }
}

/// The counter and the levels of nodes, one after another, each with room for its last, unfinished 32.
template <class T>
node_table nodes_of(std::uint64_t* words, std::uint64_t tiles, std::uint64_t& needed) {
  node_table nodes;
  needed = 16;  // the counter has a cache line of its own
  for (unsigned level = 0; level < node_levels; ++level) {
    nodes.level[level] = words + needed;
    needed += ((tiles >> (node_digit * level)) / 32 + 1) * 32 * node_words<T>;
  }
  return nodes;
}

template <class T, class Op, unsigned Chunks>
void launch(const registry::problem& p, const registry::bindings& where, queue& q) {
  constexpr unsigned bytes = sizeof(shared_state<T, Chunks>);
  const T* const x = where.in[0].as<const T>();
  T* const out = where.out[0].as<T>();
  const std::uint64_t tiles = ceil_div(p.n(), tile_length<T, Chunks>);
  std::uint64_t needed = 0;
  nodes_of<T>(nullptr, tiles, needed);
  std::uint64_t* const words = q.lasting(needed);
  T code{};
  output_rule<T, Op> rule = output_rule_of<T, Op>(p);
  if constexpr (has_codes<T, Op>) {
    code = code_of<T>(p);
    if (starts_from_init(p)) rule.init ^= code;
  }
  const node_table nodes = nodes_of<T>(words, tiles, needed);
  const T* const ends = carry_of<T>(p, where);
  const work<T, Op> w{x, out, p.n(), tiles, is_packable(x), is_packable(out), rule, words, nodes, code, ends};
  const unsigned groups = static_cast<unsigned>(std::min<std::uint64_t>(tiles, q.device().info().compute_units));
  TW_CUDA(cudaFuncSetAttribute(lookback<T, Op, Chunks>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  lookback<T, Op, Chunks><<<groups, group_size<Chunks>, bytes, q.stream()>>>(w);
  TW_CUDA(cudaGetLastError());
}

constexpr std::array<unsigned, 3> tiles{0, 1, 2};
constexpr std::array<std::string_view, 3> tile_words{"by_size", "32KiB", "64KiB"};
constexpr std::array<registry::tuning_axis, 1> axes{{{"tile", tiles, 0, tile_words}}};

/// Small tiles while each has a compute unit to itself: 14 % faster on an H200 at 2^20 floats, 7 % slower at 2^21.
bool takes_small_tiles(const registry::problem& p, const registry::tuning& t, const backend::device& on) {
  const auto [tile] = t.of(axes);
  if (tile != 0) return tile == 1;
  return p.n() * size_of(p.type) <= std::uint64_t{on.info().compute_units} * 32 * 1024;
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning& t, backend::queue& q) {
  if (p.n() == 0) return;
  const bool small = takes_small_tiles(p, t, q.device());
  with_type_and_operator(p.type, operation_of(p), [&]<class T, class Op>(T, Op) {
    constexpr bool is_coded = std::is_integral_v<T> && (Op::id == op::min || Op::id == op::max);
    using element = std::conditional_t<is_coded, order::wrapping_t<T>, T>;
    using operation = std::conditional_t<is_coded, order::max, Op>;
    small ? launch<element, operation, 8>(p, where, enter(q)) : launch<element, operation, 16>(p, where, enter(q));
  });
}

std::string unsupported(const registry::problem& p, const backend::device& on, const registry::tuning&) {
  if (on.info().compute_capability < pipeline_capability) return "it needs compute capability 9.0, for bulk copies";
  // 2^25 tiles of 32 KiB are 1 TiB.
  if (p.n() * size_of(p.type) / (32 * 1024) >= std::uint64_t{1} << (node_levels * node_digit))
    return "it takes inputs of less than 1 TiB";
  return "";
}

}  // namespace

registry::variant cuda_lookback_variant() {
  return {.algorithm = "scan",
          .backend = "cuda",
          .name = "lookback",
          .types = all_dtypes,
          .source =
              "Merrill, Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, NVR-2016-002; here "
              "over the nodes of a fixed tree",
          .tuning = axes,
          .unsupported = unsupported,
          .run = run};
}

}  // namespace tilewise::impl::scan
