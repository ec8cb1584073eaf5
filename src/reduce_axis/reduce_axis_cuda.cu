// SPDX-License-Identifier: Apache-2.0
// What:   reduce_axis on CUDA: whole tiles level by level, then what is left on all levels.
// Order:  that of reduce_axis.cl: tiles are aligned blocks, what is left over are the digits of the length.
// Shape:  a group holds several lines side by side and a power of two of elements of each (reduce_axis_tile.hpp),
//         loaded in the order in which they lie in memory. One launch, and one more for each level of tiles. Of many
//         columns each has threads of its own (reduce_axis_cuda_columns.cu).
// Limits: none.
// Twins:  reduce_axis_serial.cpp, reduce_axis.cl.
#include "backend/cuda/cuda_dispatch.hpp"
#include "backend/cuda/cuda_error.hpp"
#include "backend/cuda/cuda_queue.hpp"
#include "base/ceil_div.hpp"
#include "reduce_axis/reduce_axis_cuda.hpp"
#include "reduce_axis/reduce_axis_tile.hpp"
#include "registry/variant.hpp"

#include <cuda_runtime.h>

namespace tilewise::impl::reduce_axis {

namespace {

using namespace backend::cuda;

constexpr unsigned group_size = 256, items = 16;
constexpr unsigned tile_length = group_size * items;
constexpr unsigned log_banks = 5;

/// Element e of line l is from[e * element + l * line].
template <class T>
struct line_source {
  const T* from;
  std::uint64_t element, line;
  bool by_rows;

  __device__ line_source at(std::uint64_t e, std::uint64_t l) const {
    return {from + e * element + l * line, element, line, by_rows};
  }
};

/// The elements of a tile in shared memory, with a gap for every 32, so that few of those that threads read or write at
/// a time share a bank, whichever way the lines lie.
template <class T>
class tile_nodes {
 public:
  static constexpr unsigned room = tile_length + (tile_length >> log_banks);

  __device__ tile_nodes(T* nodes, unsigned log_lines)
      : nodes_(nodes), log_lines_(log_lines), log_gap_(log_lines < log_banks ? log_banks - log_lines : 0) {}

  __device__ T& operator()(unsigned e, unsigned l) const { return nodes_[(e << log_lines_ | l) + (e >> log_gap_)]; }

 private:
  T* nodes_;
  unsigned log_lines_, log_gap_;
};

/// All of a thread's loads are under way before it stores the first.
template <class T>
__device__ void load_lines(const line_source<T>& s, unsigned length, unsigned lines, const line_tile& tile,
                           const tile_nodes<T>& nodes) {
  T loaded[items];
  unsigned e[items], l[items];
  bool is_there[items];
#pragma unroll
  for (unsigned k = 0; k < items; ++k) {
    const unsigned i = threadIdx.x + k * group_size;
    e[k] = s.by_rows ? i & ((1u << tile.log_length) - 1) : i >> tile.log_lines;
    l[k] = s.by_rows ? i >> tile.log_length : i & ((1u << tile.log_lines) - 1);
    is_there[k] = e[k] < length && l[k] < lines;
    if (is_there[k]) loaded[k] = s.from[e[k] * s.element + l[k] * s.line];
  }
#pragma unroll
  for (unsigned k = 0; k < items; ++k)
    if (is_there[k]) nodes(e[k], l[k]) = loaded[k];
  __syncthreads();
}

/// The values of all blocks that lie within `count` nodes of one line, 2^level elements apart; each stays at its first
/// node unless a larger block has it.
template <class Op, class T>
__device__ void merge_chunk(const tile_nodes<T>& nodes, unsigned first, unsigned count, unsigned level, unsigned line) {
  T value[items];
#pragma unroll
  for (unsigned i = 0; i < items; ++i)
    if (i < count) value[i] = nodes((first + i) << level, line);
#pragma unroll
  for (unsigned half = 1; half < items; half *= 2)
#pragma unroll
    for (unsigned i = 0; i < items; i += 2 * half)
      if (i + 2 * half <= count) value[i] = Op::template apply<T>(value[i], value[i + half]);
  if (count == items)
    nodes(first << level, line) = value[0];
  else
#pragma unroll
    for (unsigned i = 0; i < items; i += 2)
      if (i + 2 <= count) nodes((first + i) << level, line) = value[i];
}

/// The values of all blocks that lie within `length` elements of each line: four levels of the tree at a time, of which
/// a thread has a chunk in registers.
template <class Op, class T>
__device__ void merge_blocks(const tile_nodes<T>& nodes, unsigned length, unsigned lines, unsigned log_lines) {
  for (unsigned level = 0; length >> (level + 1) != 0; level += 4) {
    const unsigned count = length >> level, chunks = (count + items - 1) / items;
    for (unsigned i = threadIdx.x; i < chunks << log_lines; i += group_size) {
      const unsigned line = i & ((1u << log_lines) - 1), first = (i >> log_lines) * items;
      if (line < lines) merge_chunk<Op>(nodes, first, min(count - first, items), level, line);
    }
    __syncthreads();
  }
}

__device__ inline unsigned lines_from(std::uint64_t begin, std::uint64_t lines, const line_tile& tile) {
  const std::uint64_t left = lines - begin;
  return static_cast<unsigned>(left < 1ull << tile.log_lines ? left : 1ull << tile.log_lines);
}

template <class T, class Op>
__global__ void __launch_bounds__(group_size)
    fold_tiles_of_lines(line_source<T> source, std::uint64_t lines, std::uint64_t groups, line_tile tile, T* values) {
  __shared__ T shared[tile_nodes<T>::room];
  const tile_nodes<T> nodes(shared, tile.log_lines);
  const std::uint64_t bands = (lines + (1ull << tile.log_lines) - 1) >> tile.log_lines;
  for (std::uint64_t group = blockIdx.x; group < groups; group += gridDim.x) {
    const std::uint64_t at = group / bands, begin = group % bands << tile.log_lines;
    const unsigned present = lines_from(begin, lines, tile), length = 1u << tile.log_length;
    load_lines(source.at(at << tile.log_length, begin), length, present, tile, nodes);
    merge_blocks<Op>(nodes, length, present, tile.log_lines);
    if (threadIdx.x < present) values[at * lines + begin + threadIdx.x] = nodes(0, threadIdx.x);
    __syncthreads();
  }
}

/// What is left of the lines from `begin` on after their whole tiles, on every level, folded in one thread for each.
template <class Op, class T>
__device__ T prefix_of_line(const line_source<T>& in, std::uint64_t lines, std::uint64_t n, std::uint64_t begin,
                            const line_tile& tile, const T* values, const tile_nodes<T>& nodes) {
  const unsigned present = lines_from(begin, lines, tile);
  T prefix = Op::template identity<T>();
  int level = 0;
  while (n >> (level + 1) * tile.log_length != 0) ++level;
  for (; level >= 0; --level) {
    const std::uint64_t count = n >> level * tile.log_length, whole = count >> tile.log_length << tile.log_length;
    const unsigned rest = static_cast<unsigned>(count - whole);
    std::uint64_t first = 0;
    for (int below = 1; below < level; ++below) first += (n >> below * tile.log_length) * lines;
    const line_source<T> of_level = level == 0 ? in : line_source<T>{values + first, lines, 1, false};
    __syncthreads();
    load_lines(of_level.at(whole, begin), rest, present, tile, nodes);
    merge_blocks<Op>(nodes, rest, present, tile.log_lines);
    if (threadIdx.x >= present) continue;
    for (unsigned position = 0, k = tile.log_length; k-- > 0;) {
      if ((rest >> k & 1) == 0) continue;
      prefix = Op::template apply<T>(prefix, nodes(position, threadIdx.x));
      position += 1u << k;
    }
  }
  return prefix;
}

template <class T, class Op>
__global__ void __launch_bounds__(group_size) finish_lines(line_source<T> in, std::uint64_t lines, std::uint64_t n,
                                                           line_tile tile, const T* values, T first, T* out) {
  __shared__ T shared[tile_nodes<T>::room];
  const tile_nodes<T> nodes(shared, tile.log_lines);
  const std::uint64_t bands = (lines + (1ull << tile.log_lines) - 1) >> tile.log_lines;
  for (std::uint64_t band = blockIdx.x; band < bands; band += gridDim.x) {
    const std::uint64_t begin = band << tile.log_lines;
    const T prefix = prefix_of_line<Op>(in, lines, n, begin, tile, values, nodes);
    if (threadIdx.x < lines_from(begin, lines, tile))
      out[begin + threadIdx.x] = order::canonical(Op::template apply<T>(first, prefix));
  }
}

template <class T, class Op>
void launch_tiles(const registry::problem& p, const registry::bindings& where, queue& q) {
  const registry::lines of = lines_of(p);
  const line_tile tile = tile_for(p, group_size, tile_length);
  const std::uint64_t bands = ceil_div(of.count, tile.lines());
  const backend::buffer workspace(q, tile.values_of(of) * sizeof(T));
  const line_source<T> in{where.in[0].as<const T>(), of.element, of.line, tile.by_rows != 0};
  line_source<T> from = in;
  T* to = workspace.as<T>();
  for (std::uint64_t tiles = of.length >> tile.log_length; tiles != 0; tiles >>= tile.log_length) {
    fold_tiles_of_lines<T, Op>
        <<<groups_for(tiles * bands), group_size, 0, q.stream()>>>(from, of.count, tiles * bands, tile, to);
    TW_CUDA(cudaGetLastError());
    from = {to, of.count, 1, false};
    to += tiles * of.count;
  }
  const T first = first_of<T>(p).value_or(Op::template identity<T>());
  finish_lines<T, Op><<<groups_for(bands), group_size, 0, q.stream()>>>(in, of.count, of.length, tile,
                                                                        workspace.as<T>(), first, where.out[0].as<T>());
  TW_CUDA(cudaGetLastError());
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& q) {
  const registry::lines of = lines_of(p);
  if (of.count == 0) return;
  if (axis_of(p) == axis::columns && of.count >= fewest_columns) return reduce_columns_on_cuda(p, where, q);
  with_type_and_operator(p.type, operation_of(p),
                         [&]<class T, class Op>(T, Op) { launch_tiles<T, Op>(p, where, enter(q)); });
}

}  // namespace

std::vector<registry::variant> reduce_axis_cuda_variants() {
  return {{.algorithm = "reduce_axis",
           .backend = "cuda",
           .name = "",
           .types = all_dtypes,
           .source = "Harris, Optimizing Parallel Reduction in CUDA, NVIDIA 2007",
           .run = run}};
}

}  // namespace tilewise::impl::reduce_axis
