// SPDX-License-Identifier: Apache-2.0
// What:   scan in one pass over memory: each element is read once and written once.
// Order:  a tile publishes its block value; a scout folds its carry from the nodes of the tree over tiles
//         (nodes.cuh); a downsweep from that carry makes P(i) for every i of the tile. All carries are folds
//         of block values, never of prefixes, so timing changes nothing. In a part of a longer array they are folds
//         onto the prefix before it, and the last inclusive output is of the prefix after it.
// Shape:  short inputs in one wave of groups (once.cuh). Else one group per compute unit; its warps have four
//         roles and pass slots of shared memory along in a ring: the producer draws a tile and starts its bulk copy;
//         reduce warps make the values of its rows, of its chunks and of the whole, and publish the last; the scout
//         waits for the carry; finish warps load their chunk, free the slot, and write once the carry arrives. No
//         publishing role waits for a carry.
// Limits: compute capability 9.0; fewer than 32^5 tiles; works in place. Where an array is not aligned to 16 bytes, and
//         for the last tile, elements move one by one.
// Twins:  serial.cpp, blelloch.cu, opencl/program.cl.
#include "backend/cuda/dispatch.hpp"
#include "backend/cuda/error.hpp"
#include "backend/cuda/pipeline.cuh"
#include "backend/cuda/queue.hpp"
#include "base/ceil_div.hpp"
#include "registry/variant.hpp"
#include "scan/cuda/once.cuh"
#include "scan/cuda/tiles.cuh"

#include <algorithm>

namespace tilewise::impl::scan {

namespace {

using namespace on_cuda;

constexpr unsigned reduce_warps = 8;         // 4 are 2 % slower on an H200 at 2^28 floats
constexpr unsigned slot_bytes = 192 * 1024;  // in flight on one compute unit, beside what the finish warps hold

constexpr unsigned chunks = 16;  // of a tile, each of a finish warp
constexpr unsigned group_size = (2 + reduce_warps + chunks) * warp_size;
[[maybe_unused]] constexpr std::uint64_t no_tile = ~std::uint64_t{0};  // not used where the kernels are empty

/// A tile on its way through the group.
template <class T>
struct alignas(128) slot {
  T x[tile_length<T, chunks>];
  T row_value[chunks * rows];
  T chunk_value[chunks];
  std::uint64_t tile;
  barrier full, reduced, empty;
};

/// There are two of these for each slot: a slot is refilled while the finish warps still wait for its carry.
template <class T>
struct carry_slot {
  carry_pair<T> carry;
  barrier ready;
};

template <class T>
struct shared_state {
  static constexpr unsigned slots = slot_bytes / (tile_length<T, chunks> * sizeof(T));
  slot<T> in[slots];
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

/// One lane. A tile is drawn only when its slot is free: one that were held back would hold up all newer ones.
template <class T, class Op>
__device__ void produce(const work<T, Op>& w, shared_state<T>& s) {
  for (ring<s.slots> r;; ++r.use) {
    slot<T>& to = s.in[r.place()];
    if (r.reused()) to.empty.wait(r.parity() ^ 1);
    const std::uint64_t drawn = draw(w.counter, w.tiles + gridDim.x), tile = static_cast<unsigned>(drawn);
    if (r.use == 0) s.epoch = static_cast<unsigned>(drawn >> 32) + 1;
    to.tile = tile < w.tiles ? tile : no_tile;
    if (tile < w.tiles && w.packable_in && is_whole<T, Op, chunks>(w, tile))
      to.full.arrive_with_copy(to.x, w.x + tile * tile_length<T, chunks>, sizeof to.x);
    else
      to.full.arrive();
    if (tile >= w.tiles) return;
  }
}

/// One warp.
template <class T, class Op>
__device__ void scout(const work<T, Op>& w, shared_state<T>& s) {
  const unsigned lane = threadIdx.x % warp_size;
  const T first = w.ends == nullptr ? Op::template identity<T>() : recoded(w, w.ends[0]);
  for (ring<s.slots> r;; ++r.use) {
    slot<T>& of = s.in[r.place()];
    of.full.wait(r.parity());
    const std::uint64_t tile = of.tile;
    if (tile == no_tile) return;
    of.reduced.wait(r.parity());
    const T own = warp_tree<Op, chunks>(of.chunk_value[lane % chunks]);
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
template <class T, class Op>
__device__ void load_chunk(const work<T, Op>& w, slot<T>& from, unsigned chunk, pack<T> (&loaded)[rows]) {
  const bool copied = w.packable_in && is_whole<T, Op, chunks>(w, from.tile);
#pragma unroll
  for (unsigned r = 0; r < rows; ++r) {
    const unsigned at = chunk * chunk_length<T> + r * row_length<T> + threadIdx.x % warp_size * pack_length<T>;
    pack<T>& here = reinterpret_cast<pack<T>&>(from.x[at]);
    if (!copied) here = load_pack_part<Op>(w.x, from.tile * tile_length<T, chunks> + at, w.n);
    loaded[r] = here;  // what it has beyond the end is in no block that a result is made of
    recode(w, loaded[r]);
  }
}

/// reduce_warps warps. Publishing comes first, whatever older tiles do.
template <class T, class Op>
__device__ void reduce(const work<T, Op>& w, shared_state<T>& s, unsigned warp) {
  const unsigned lane = threadIdx.x % warp_size;
  for (ring<s.slots> r;; ++r.use) {
    slot<T>& of = s.in[r.place()];
    of.full.wait(r.parity());
    if (of.tile == no_tile) return;
    for (unsigned chunk = warp; chunk < chunks; chunk += reduce_warps) {
      pack<T> loaded[rows];
      load_chunk(w, of, chunk, loaded);
      T row_value, chunk_value;
      values_of_chunk<T, Op>(loaded, row_value, chunk_value);
      if (lane < rows) of.row_value[chunk * rows + lane] = row_value;
      if (lane == 0) of.chunk_value[chunk] = chunk_value;
    }
    asm volatile("bar.sync 1, %0;" ::"n"(reduce_warps * warp_size) : "memory");  // all chunks' values are there
    if (warp == 0) {
      const T own = warp_tree<Op, chunks>(of.chunk_value[lane % chunks]);
      if (lane == 0) send(sibling<T>(w.nodes, 0, of.tile, digit_of(of.tile, 0)), own, s.epoch);
    }
    if (lane == 0) of.reduced.arrive();
  }
}

/// One warp a chunk.
template <class T, class Op>
__device__ void finish(const work<T, Op>& w, shared_state<T>& s, unsigned chunk) {
  const unsigned lane = threadIdx.x % warp_size;
  for (ring<s.slots> r;; ++r.use) {
    slot<T>& from = s.in[r.place()];
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
    const T chunk_value = from.chunk_value[lane % chunks], row_value = from.row_value[chunk * rows + lane % rows];
    __syncwarp();  // every lane has what it needs of the slot
    if (lane == 0) from.empty.arrive();

    carry_slot<T>& known = s.carries[r.use % (2 * s.slots)];
    known.ready.wait(r.use / (2 * s.slots) % 2);
    finish_chunk<T, Op, chunks>(w, tile, chunk, x, chunk_value, row_value, known.carry);
  }
}

template <class T, class Op>
__global__ void __launch_bounds__(group_size, 1) lookback(const work<T, Op> w) {
  if constexpr (!has_pipeline) {
    __trap();
  } else {
    extern __shared__ __align__(128) unsigned char bytes[];
    auto& s = *reinterpret_cast<shared_state<T>*>(bytes);
    if (threadIdx.x == 0) {
      for (slot<T>& each : s.in) {
        each.full.open(1);
        each.reduced.open(reduce_warps);
        each.empty.open(chunks + 1);  // the finish warps and the scout
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

/// The operands of a launch that takes tiles of `length` elements.
template <class T, class Op>
work<T, Op> work_of(const registry::problem& p, const registry::bindings& where, unsigned length, queue& q) {
  const T* const x = where.in[0].as<const T>();
  T* const out = where.out[0].as<T>();
  const std::uint64_t tiles = ceil_div(p.n(), length);
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
  return {x, out, p.n(), tiles, is_packable(x), is_packable(out), rule, words, nodes, code, carry_of<T>(p, where)};
}

template <class T, class Op>
void launch_once(const registry::problem& p, const registry::bindings& where, queue& q) {
  const work<T, Op> w = work_of<T, Op>(p, where, tile_length<T, once_chunks>, q);
  once<T, Op><<<static_cast<unsigned>(w.tiles), once_threads, 0, q.stream()>>>(w);
  TW_CUDA(cudaGetLastError());
}

template <class T, class Op>
void launch_ring(const registry::problem& p, const registry::bindings& where, queue& q) {
  constexpr unsigned bytes = sizeof(shared_state<T>);
  const work<T, Op> w = work_of<T, Op>(p, where, tile_length<T, chunks>, q);
  const unsigned groups = static_cast<unsigned>(std::min<std::uint64_t>(w.tiles, q.device().info().compute_units));
  TW_CUDA(cudaFuncSetAttribute(lookback<T, Op>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  lookback<T, Op><<<groups, group_size, bytes, q.stream()>>>(w);
  TW_CUDA(cudaGetLastError());
}

constexpr std::array<unsigned, 3> tiles{0, 1, 2};
constexpr std::array<std::string_view, 3> tile_words{"by_size", "32KiB", "64KiB"};
constexpr std::array<registry::tuning_axis, 1> axes{{{"tile", tiles, 0, tile_words}}};

/// Small tiles while all of them are on the device at once; of 8-byte elements while a compute unit has two. On an H200
/// 2^20 doubles take 8.7 us so and 10.8 in large tiles, 2^16 and 2^22 floats 4.8 and 10.8 instead of 7.4 and 12.2; from
/// twice as many on large tiles are faster.
bool takes_small_tiles(const registry::problem& p, const registry::tuning& t, const backend::device& on) {
  const auto [tile] = t.of(axes);
  if (tile != 0) return tile == 1;
  const unsigned tiles_a_unit = size_of(p.type) == 8 ? 2 : 4;
  return p.n() * size_of(p.type) <= std::uint64_t{on.info().compute_units} * tiles_a_unit * 32 * 1024;
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning& t, backend::queue& q) {
  if (p.n() == 0) return;
  const bool small = takes_small_tiles(p, t, q.device());
  with_type_and_operator(p.type, operation_of(p), [&]<class T, class Op>(T, Op) {
    constexpr bool is_coded = std::is_integral_v<T> && (Op::id == op::min || Op::id == op::max);
    using element = std::conditional_t<is_coded, order::wrapping_t<T>, T>;
    using operation = std::conditional_t<is_coded, order::max, Op>;
    small ? launch_once<element, operation>(p, where, enter(q)) : launch_ring<element, operation>(p, where, enter(q));
  });
}

std::string unsupported(const registry::problem& p, const backend::device& on, const registry::tuning&) {
  if (!has_pipeline_on(on.info())) return "bulk copies need compute capability 9.0, and code for it";
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
