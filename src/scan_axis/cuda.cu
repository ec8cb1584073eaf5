// SPDX-License-Identifier: Apache-2.0
// What:   scan_axis on CUDA in one pass over memory: each element is read once and written once.
// Order:  that of opencl.cl. Where a line is longer than a tile, its tiles publish the values of the aligned blocks
//         of tiles that they complete; a tile's carry is the fold of those that the binary digits of its number name.
// Shape:  a group's tile is that of reduce_axis/cuda/tile.cuh, which every thread finishes from P at its run's begin.
//         One launch.
// Limits: fewer than 2^31 groups; works in place. Groups draw their tiles in ascending order, and publish a block
//         before they wait for anything that it does not consist of: a chain of waits is as long as the tree is high.
// Twins:  serial.cpp, opencl.cl.
#include "backend/cuda/dispatch.hpp"
#include "backend/cuda/error.hpp"
#include "backend/cuda/packet.cuh"
#include "backend/cuda/queue.hpp"
#include "divide/each_line.hpp"
#include "reduce_axis/cuda/tile.cuh"
#include "registry/variant.hpp"
#include "scan/cuda/shared.cuh"
#include "scan_axis/problem.hpp"

#include <cuda_runtime.h>

namespace tilewise::impl::scan_axis {

namespace {

using namespace backend::cuda;
using namespace reduce_axis;
using scan::output_rule;

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
  tile_shape shape;
  output_rule<T, Op> rule;
  std::uint64_t* counter;  // the launch's number in the high half, tiles drawn in the low one
  block_table<T> blocks;
};

/// P of the group's lines before the tile and after it.
template <class T>
struct carry_pair {
  T before, after;
};

/// Waits for the blocks on the tile's left that the digits [first, end) of its number name: block `digit` of line l
/// comes to found[digit << log_lines | l].
template <class T, class Op>
__device__ void wait_for(const work<T, Op>& w, const tile_place& p, unsigned launch, unsigned first, unsigned end,
                         T* found) {
  const unsigned log_lines = w.shape.log_lines;
  for (unsigned q = (first << log_lines) + threadIdx.x; q < end << log_lines; q += group_size) {
    const unsigned digit = q >> log_lines, l = q & ((1u << log_lines) - 1);
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
  const auto of_digit = [&](unsigned digit) { return found[digit << w.shape.log_lines | at.line]; };
  const auto publish = [&](unsigned level) {
    if (publishes) send(w.blocks.of(level, p.tile >> level, p.line + at.line), value, launch);
  };
  publish(0);
  const unsigned completed = static_cast<unsigned>(__ffs(static_cast<int>(~p.tile))) - 1;
  const unsigned digits = 32 - static_cast<unsigned>(__clz(static_cast<int>(p.tile)));
  wait_for(w, p, launch, 0, completed, found);
  for (unsigned level = 0; level < completed; ++level) {
    value = Op::template apply<T>(of_digit(level), value);
    publish(level + 1);
  }
  wait_for(w, p, launch, completed, digits, found);
  T before = Op::template identity<T>();
  for (unsigned digit = digits; digit-- > completed;)
    if ((p.tile >> digit & 1) != 0) before = Op::template apply<T>(before, of_digit(digit));
  const T after = Op::template apply<T>(before, value);
  for (unsigned digit = completed; digit-- > 0;) before = Op::template apply<T>(before, of_digit(digit));
  return {before, after};
}

/// The launch's next tile, for all threads.
__device__ std::uint64_t draw_tile(std::uint64_t* counter) {
  __shared__ std::uint64_t drawn;
  if (threadIdx.x == 0) drawn = draw(counter, gridDim.x);
  __syncthreads();
  return drawn;
}

/// Writes the run's results where its elements were, or straight to memory.
template <class T, class Op>
__device__ void put_run(const work<T, Op>& w, const tile_place& p, const own_run& at, const T (&y)[items], T* stage) {
  if (is_direct<T>(w.shape)) {
    T* const to = run_in(w.out, w.to, w.shape, p, at);
#pragma unroll
    for (unsigned i = 0; i < items; ++i)
      if (i < at.count) to[i * w.to.element] = y[i];
    return;
  }
  if (at.is_aligned()) {
#pragma unroll
    for (unsigned i = 0; i < items; ++i) stage[place<T>(at.first) + i] = y[i];
  } else {
#pragma unroll
    for (unsigned i = 0; i < items; ++i)
      if (i < at.count) stage[place<T>(at.first + i * at.step)] = y[i];
  }
  store_stage(w.shape, w.to, p, stage, w.out);
}

/// The outputs of a run, from P at its begin and at its end.
template <unsigned Length, class T, class Op>
__device__ void finish_run(const output_rule<T, Op>& rule, T before, T after, unsigned length, T (&x)[Length]) {
  T prefix[Length];
  scan::prefixes<Op, Length>(x, before, prefix);
#pragma unroll
  for (unsigned i = 0; i < Length; ++i) {
    const T next = i + 1 < length ? prefix[i + 1 < Length ? i + 1 : i] : after;
    x[i] = rule(rule.shift != 0 ? next : prefix[i]);
  }
}

template <class T, class Op, bool LookBack>
__global__ void __launch_bounds__(group_size, groups_together<T>)
    scan_tiles_of_lines(const __grid_constant__ work<T, Op> w) {
  __shared__ T stage[stage_places<T>], values[group_size], begins[group_size];
  const std::uint64_t drawn = LookBack ? draw_tile(w.counter) : blockIdx.x;
  const tile_place p(w.shape, w.from, static_cast<unsigned>(drawn));
  if (!is_direct<T>(w.shape)) load_stage(w.shape, w.from, p, w.in, stage);
  const own_run at(w.shape, p);
  T x[items], left[log_group];
  take_run<Op>(w.shape, w.from, p, at, w.in, stage, x);
  const T value = meet<Op>(w.shape, tree_of<Op, items>(x), left, values);
  carry_pair<T> carry{Op::template identity<T>(), value};
  if constexpr (LookBack) {
    __syncthreads();  // all have taken their runs from the stage
    carry = look_back(w, p, at, static_cast<unsigned>(drawn >> 32) + 1, value, stage);
  }
  const T before = prefix_of_run<Op>(carry.before, left);
  begins[threadIdx.x] = before;
  __syncthreads();
  const bool is_last = at.number + 1 == w.shape.runs();
  const T after = is_last ? carry.after : begins[threadIdx.x + (1u << w.shape.first_bit())];
  finish_run(w.rule, before, after, 1u << w.shape.log_run, x);
  put_run(w, p, at, x, stage);
}

/// A line of at most Length elements; `from(i)` and `to(i)` are where they lie and go.
template <unsigned Length, class T, class Op, class From, class To>
__device__ void scan_line(const output_rule<T, Op>& rule, unsigned count, const From& from, const To& to) {
  T x[Length];
#pragma unroll
  for (unsigned i = 0; i < Length; ++i) x[i] = i < count ? from(i) : Op::template identity<T>();
  finish_run(rule, Op::template identity<T>(), tree_of<Op, Length>(x), Length, x);
#pragma unroll
  for (unsigned i = 0; i < Length; ++i)
    if (i < count) to(i) = x[i];
}

/// Lines of at most a run: a thread each, with rows staged and columns straight from memory.
template <unsigned Length, class T, class Op>
__global__ void __launch_bounds__(group_size) scan_short_lines(const __grid_constant__ work<T, Op> w) {
  __shared__ T stage[stage_places<T>];
  const tile_place p(w.shape, w.from, blockIdx.x);
  if (w.shape.by_rows) {
    load_stage(w.shape, w.from, p, w.in, stage);
    for (unsigned l = threadIdx.x; l < p.present; l += group_size) {
      const auto place_of = [&](unsigned i) -> T& { return stage[place<T>(l * w.shape.pitch + i)]; };
      scan_line<Length>(w.rule, p.length, place_of, place_of);
    }
    store_stage(w.shape, w.to, p, stage, w.out);
  } else {
#pragma unroll 2
    for (unsigned l = threadIdx.x; l < p.present; l += group_size) {
      const T* const from = p.in(w.in, w.from) + l;
      T* const to = p.in(w.out, w.to) + l;
      scan_line<Length>(
          w.rule, p.length, [&](unsigned i) { return from[i * w.from.element]; },
          [&](unsigned i) -> T& { return to[i * w.to.element]; });
    }
  }
}

template <class T, class Op>
auto kernel_of_short_lines(std::uint64_t length) {
  return length <= 4   ? scan_short_lines<4, T, Op>
         : length <= 8 ? scan_short_lines<8, T, Op>
                       : scan_short_lines<items, T, Op>;
}

tile_shape shape_of(const registry::problem& p) {
  const bool is_packed = registry::is_packed(layout_of_input(p)) && registry::is_packed(layout_of_output(p));
  return shape_for(lines_of_input(p), axis_of(p) == axis::rows, is_packed);
}

template <class T, class Op>
void launch(const registry::problem& p, const registry::bindings& where, queue& q) {
  constexpr std::uint64_t counter_words = 16;  // a cache line of its own
  const registry::lines from = lines_of_input(p);
  const tile_shape shape = shape_of(p);
  work<T, Op> w{where.in[0].as<const T>(),
                where.out[0].as<T>(),
                from,
                lines_of_output(p),
                shape,
                scan::output_rule_of<T, Op>(p),
                nullptr,
                {}};
  const unsigned groups = static_cast<unsigned>(shape.groups_for(from));
  if (shape.tiles_of(from.length) == 1) {
    const auto kernel =
        shape.has_short_lines() ? kernel_of_short_lines<T, Op>(from.length) : scan_tiles_of_lines<T, Op, false>;
    kernel<<<groups, group_size, 0, q.stream()>>>(w);
  } else {
    const std::uint64_t room = std::bit_ceil(from.length >> shape.log_length);
    w.counter = q.lasting(counter_words + 2 * room * from.count * packet<T>::words);
    w.blocks = {reinterpret_cast<packet<T>*>(w.counter + counter_words), from.count, room};
    scan_tiles_of_lines<T, Op, true><<<groups, group_size, 0, q.stream()>>>(w);
  }
  TW_CUDA(cudaGetLastError());
}

/// Rows of so many bytes are scans of their own: these come nearer to the memory's rate, which pays for their launches.
constexpr std::uint64_t long_row = std::uint64_t{1} << 26;

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& q) {
  const registry::lines from = lines_of_input(p);
  if (from.count == 0 || from.length == 0) return;
  if (axis_of(p) == axis::rows && from.length * size_of(p.type) >= long_row)
    return divide::run_each_line(scan_of_line(p), from, lines_of_output(p), where, q);
  with_type_and_operator(p.type, operation_of(p), [&]<class T, class Op>(T, Op) { launch<T, Op>(p, where, enter(q)); });
}

std::string unsupported(const registry::problem& p, const backend::device&, const registry::tuning&) {
  const registry::lines from = lines_of_input(p);
  return from.count == 0 || from.length == 0 ? "" : too_many_groups(shape_of(p).groups_for(from));
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
