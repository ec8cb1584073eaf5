// SPDX-License-Identifier: Apache-2.0
// What:   scan_axis on CUDA in one pass over memory: each element is read once and written once.
// Order:  that of scan_axis.cl. Where a line is longer than a tile, its tiles publish the values of the aligned blocks
//         of tiles that they complete; a tile's carry is the fold of those that the binary digits of its number name.
// Shape:  a group holds several lines and a power of two of elements of each (scan_axis_tile.hpp), read and written in
//         the order in which they lie in memory; a thread takes a run of one line, and the runs of a line meet as a
//         butterfly. One launch.
// Limits: fewer than 2^31 groups; works in place. Groups draw their tiles in ascending order and publish their own
//         values before they wait for older ones, so the oldest unfinished tile never waits forever.
// Twins:  scan_axis_serial.cpp, scan_axis.cl.
#include "backend/cuda/cuda_dispatch.hpp"
#include "backend/cuda/cuda_error.hpp"
#include "backend/cuda/cuda_packet.cuh"
#include "backend/cuda/cuda_queue.hpp"
#include "base/ceil_div.hpp"
#include "registry/variant.hpp"
#include "scan/scan_cuda.cuh"
#include "scan/scan_cuda_prefixes.cuh"
#include "scan_axis/scan_axis_problem.hpp"
#include "scan_axis/scan_axis_tile.hpp"

#include <cuda_runtime.h>

namespace tilewise::impl::scan_axis {

namespace {

using namespace backend::cuda;
using scan::output_rule;

constexpr unsigned log_group = 8, group_size = 1u << log_group;
constexpr unsigned items = 16;
constexpr unsigned tile_length = group_size * items;

/// One place in 33 is left out, so that runs begin in different banks.
__host__ __device__ constexpr unsigned place(unsigned i) { return i + i / 32; }

/// Values of blocks of tiles, of every line: level k has those of 2^k tiles. Tagged with the launch's number.
template <class T>
struct block_table {
  packet<T>* at;
  std::uint64_t lines, room;  // whole tiles of a line, up to a power of two

  __device__ packet<T>* of(unsigned level, std::uint64_t block, std::uint64_t line) const {
    return at + (2 * room - (2 * room >> level) + block) * lines + line;
  }
};

template <class T, class Op>
struct work {
  const T* in;
  T* out;
  registry::lines from, to;
  line_tile shape;
  output_rule<T, Op> rule;
  std::uint64_t* counter;  // the launch's number in the high half, tiles drawn in the low one
  block_table<T> blocks;
};

/// Where a group works: `present` lines from `line` on, `length` elements of each from `tile` tiles on.
struct tile_place {
  std::uint64_t tile, line;
  unsigned length, present;
};

template <class T, class Op>
__device__ tile_place place_of(const work<T, Op>& w, std::uint64_t group) {
  const std::uint64_t bands = (w.from.count + (1ull << w.shape.log_lines) - 1) >> w.shape.log_lines;
  tile_place p{group / bands, group % bands << w.shape.log_lines, 1u << w.shape.log_length, 1u << w.shape.log_lines};
  const std::uint64_t elements = w.from.length - (p.tile << w.shape.log_length), lines = w.from.count - p.line;
  if (elements < p.length) p.length = static_cast<unsigned>(elements);
  if (lines < p.present) p.present = static_cast<unsigned>(lines);
  return p;
}

/// Element `i` of the stage: lines lie one after another where they are rows, and side by side where columns.
__device__ unsigned element_at(const line_tile& s, unsigned i) {
  return s.by_rows != 0 ? i & ((1u << s.log_length) - 1) : i >> s.log_lines;
}
__device__ unsigned line_at(const line_tile& s, unsigned i) {
  return s.by_rows != 0 ? i >> s.log_length : i & ((1u << s.log_lines) - 1);
}

/// What a thread works on: run `number` of `line`, at stage[place(first + i * step)]; its neighbour on the right is
/// `step` threads further.
struct own_run {
  unsigned line, number, first, step;

  __device__ explicit own_run(const line_tile& s) {
    const unsigned me = threadIdx.x, log_runs = s.log_length - s.log_run;
    step = s.by_rows != 0 ? 1 : 1u << s.log_lines;
    line = s.by_rows != 0 ? me >> log_runs : me & (step - 1);
    number = s.by_rows != 0 ? me & ((1u << log_runs) - 1) : me >> s.log_lines;
    first = s.by_rows != 0 ? me << s.log_run : number << s.log_run << s.log_lines | line;
  }
};

template <class T, class Op>
__device__ void load(const work<T, Op>& w, const tile_place& p, T* stage) {
  const T* const from = w.in + (p.tile << w.shape.log_length) * w.from.element + p.line * w.from.line;
  T loaded[items];
#pragma unroll
  for (unsigned k = 0; k < items; ++k) {
    const unsigned i = k * group_size + threadIdx.x, e = element_at(w.shape, i), l = line_at(w.shape, i);
    const bool is_there = k < 1u << w.shape.log_run && e < p.length && l < p.present;
    loaded[k] = is_there ? from[e * w.from.element + l * w.from.line] : Op::template identity<T>();
  }
#pragma unroll
  for (unsigned k = 0; k < items; ++k)
    if (k < 1u << w.shape.log_run) stage[place(k * group_size + threadIdx.x)] = loaded[k];
  __syncthreads();
}

template <class T, class Op>
__device__ void store(const work<T, Op>& w, const tile_place& p, const T* stage) {
  T* const to = w.out + (p.tile << w.shape.log_length) * w.to.element + p.line * w.to.line;
#pragma unroll
  for (unsigned k = 0; k < items; ++k) {
    const unsigned i = k * group_size + threadIdx.x, e = element_at(w.shape, i), l = line_at(w.shape, i);
    if (k < 1u << w.shape.log_run && e < p.length && l < p.present)
      to[e * w.to.element + l * w.to.line] = stage[place(i)];
  }
}

/// The line's value from the values of its runs. On the way `left` gets the neighbouring block on each level.
template <class Op, class T>
__device__ T meet(const line_tile& s, const own_run& at, T value, T (&left)[log_group], T* level) {
#pragma unroll
  for (unsigned k = 0; k < log_group; ++k) {
    left[k] = Op::template identity<T>();
    if (k >= s.log_length - s.log_run) continue;
    T* const here = level + k % 2 * group_size;  // by turns: who is late still reads the other
    here[threadIdx.x] = value;
    __syncthreads();
    left[k] = here[threadIdx.x ^ at.step << k];
    value = Op::template apply<T>(value, left[k]);
  }
  return value;
}

/// P of the group's lines before the tile and after it.
template <class T>
struct carry_pair {
  T before, after;
};

/// The blocks on the tile's left that the digits of its number name: block `digit` of line l at
/// found[digit << log_lines | l].
template <class T, class Op>
__device__ void find_blocks(const work<T, Op>& w, const tile_place& p, unsigned launch, unsigned digits, T* found) {
  for (unsigned q = threadIdx.x; q < digits << w.shape.log_lines; q += group_size) {
    const unsigned digit = q >> w.shape.log_lines, l = q & ((1u << w.shape.log_lines) - 1);
    if ((p.tile >> digit & 1) == 0 || l >= p.present) continue;
    const packet<T>* const from = w.blocks.of(digit, (p.tile >> digit) - 1, p.line + l);
    packet<T> seen = receive(from);
    while (!seen.is_of(launch)) seen = receive(from);
    found[q] = seen.value();
  }
  __syncthreads();
}

/// Publishes the tile's value and the blocks that it completes, and folds the carries from those of older tiles.
template <class T, class Op>
__device__ carry_pair<T> look_back(const work<T, Op>& w, const tile_place& p, const own_run& at, unsigned launch,
                                   T value, T* found) {
  const bool publishes = at.number == 0 && at.line < p.present && p.length >> w.shape.log_length != 0;
  const std::uint64_t line = p.line + at.line;
  if (publishes) send(w.blocks.of(0, p.tile, line), value, launch);
  const unsigned digits = 64 - static_cast<unsigned>(__clzll(static_cast<long long>(p.tile)));
  find_blocks(w, p, launch, digits, found);
  unsigned level = 0;
  for (; (p.tile >> level & 1) != 0; ++level) {
    value = Op::template apply<T>(found[level << w.shape.log_lines | at.line], value);
    if (publishes) send(w.blocks.of(level + 1, p.tile >> (level + 1), line), value, launch);
  }
  carry_pair<T> carry{Op::template identity<T>(), value};
  for (unsigned digit = digits; digit-- > 0;) {
    if (digit + 1 == level) carry.after = Op::template apply<T>(carry.before, value);
    if ((p.tile >> digit & 1) != 0)
      carry.before = Op::template apply<T>(carry.before, found[digit << w.shape.log_lines | at.line]);
  }
  if (level == 0) carry.after = Op::template apply<T>(carry.before, value);
  return carry;
}

/// The launch's next tile, for all threads. The last draw begins the next launch's number, so nothing has to be
/// cleared.
__device__ std::uint64_t draw(std::uint64_t* counter) {
  __shared__ unsigned long long drawn;
  if (threadIdx.x == 0) {
    drawn = atomicAdd(reinterpret_cast<unsigned long long*>(counter), 1ull);
    if (static_cast<unsigned>(drawn) == gridDim.x - 1)
      atomicExch(reinterpret_cast<unsigned long long*>(counter), ((drawn >> 32) + 1) << 32);
  }
  __syncthreads();
  return drawn;
}

template <class T, class Op, bool LookBack>
__global__ void __launch_bounds__(group_size) scan_tiles_of_lines(work<T, Op> w) {
  __shared__ T stage[place(tile_length) + 1], level[2 * group_size];
  const std::uint64_t drawn = LookBack ? draw(w.counter) : blockIdx.x;
  const tile_place p = place_of(w, static_cast<unsigned>(drawn));
  const own_run at(w.shape);
  const unsigned length = 1u << w.shape.log_run;
  load(w, p, stage);
  T x[items], left[log_group], prefix[items];
#pragma unroll
  for (unsigned i = 0; i < items; ++i)
    x[i] = i < length ? stage[place(at.first + i * at.step)] : Op::template identity<T>();
  const T value = meet<Op>(w.shape, at, tree_of<Op, items>(x), left, level);
  carry_pair<T> carry{Op::template identity<T>(), value};
  if constexpr (LookBack) carry = look_back(w, p, at, static_cast<unsigned>(drawn >> 32) + 1, value, stage);
#pragma unroll
  for (unsigned k = log_group; k-- > 0;)
    if ((at.number >> k & 1) != 0) carry.before = Op::template apply<T>(carry.before, left[k]);
  __syncthreads();
  level[threadIdx.x] = carry.before;
  __syncthreads();
  if (at.number + 1 < 1u << (w.shape.log_length - w.shape.log_run)) carry.after = level[threadIdx.x + at.step];
  scan::prefixes<Op, items>(x, carry.before, prefix);
#pragma unroll
  for (unsigned i = 0; i < items; ++i) {
    if (i >= length) continue;
    const T next = i + 1 < length ? prefix[i + 1 < items ? i + 1 : i] : carry.after;
    stage[place(at.first + i * at.step)] = w.rule(w.rule.shift != 0 ? next : prefix[i]);
  }
  __syncthreads();
  store(w, p, stage);
}

std::uint64_t groups_of(const registry::problem& p) {
  const registry::lines from = lines_of_input(p);
  const line_tile shape = tile_for(from.count, from.length, axis_of(p) == axis::rows, group_size, items);
  return ceil_div(from.length, shape.length()) * ceil_div(from.count, shape.lines());
}

template <class T, class Op>
void launch(const registry::problem& p, const registry::bindings& where, queue& q) {
  constexpr std::uint64_t counter_words = 16;  // a cache line of its own
  const registry::lines from = lines_of_input(p);
  const line_tile shape = tile_for(from.count, from.length, axis_of(p) == axis::rows, group_size, items);
  work<T, Op> w{where.in[0].as<const T>(),
                where.out[0].as<T>(),
                from,
                lines_of_output(p),
                shape,
                scan::output_rule_of<T, Op>(p),
                nullptr,
                {}};
  const unsigned groups = static_cast<unsigned>(groups_of(p));
  if (from.length <= shape.length()) {
    scan_tiles_of_lines<T, Op, false><<<groups, group_size, 0, q.stream()>>>(w);
  } else {
    const std::uint64_t room = std::bit_ceil(from.length / shape.length());
    w.counter = q.lasting(counter_words + 2 * room * from.count * packet<T>::words);
    w.blocks = {reinterpret_cast<packet<T>*>(w.counter + counter_words), from.count, room};
    scan_tiles_of_lines<T, Op, true><<<groups, group_size, 0, q.stream()>>>(w);
  }
  TW_CUDA(cudaGetLastError());
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& q) {
  const registry::lines from = lines_of_input(p);
  if (from.count == 0 || from.length == 0) return;
  with_type_and_operator(p.type, operation_of(p), [&]<class T, class Op>(T, Op) { launch<T, Op>(p, where, enter(q)); });
}

std::string unsupported(const registry::problem& p, const backend::device&, const registry::tuning&) {
  const registry::lines from = lines_of_input(p);
  return from.count == 0 || from.length == 0 ? "" : too_many_groups(groups_of(p));
}

}  // namespace

std::vector<registry::variant> scan_axis_cuda_variants() {
  return {{.algorithm = "scan_axis",
           .backend = "cuda",
           .name = "",
           .types = all_dtypes,
           .source = "Merrill, Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, NVR-2016-002; here "
                     "over the blocks of a fixed tree, of each row or column",
           .unsupported = unsupported,
           .run = run}};
}

}  // namespace tilewise::impl::scan_axis
