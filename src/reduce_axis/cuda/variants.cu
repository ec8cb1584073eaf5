// SPDX-License-Identifier: Apache-2.0
// What:   reduce_axis on CUDA: whole tiles level by level, then what is left on all levels; by the groups of
//         tiles.cuh, or by the warps of this file.
// Order:  that of opencl/program.cl: tiles are aligned blocks, what is left over are the digits of the length.
// Shape:  rows of fewer than 1024 elements are staged; rows of up to 4096, and columns of which a warp reads 32 at
//         once, are tiles in registers. Of longer rows a warp takes a tile, by packs. Of a few long columns a warp lies
//         over all and a power of two of elements of each, so that it reads memory as it lies: eight loads are under
//         way at a time; lanes of one line meet as a butterfly, blocks of loads on a stack in registers; a tile is 64
//         loads. One launch for lines that are no longer than a tile, and up to two more for each level of tiles.
// Limits: none.
// Twins:  serial.cpp, opencl/program.cl.
#include "backend/cuda/dispatch.hpp"
#include "backend/cuda/error.hpp"
#include "backend/cuda/queue.hpp"
#include "base/ceil_div.hpp"
#include "reduce_axis/cuda/tiles.cuh"
#include "reduce_axis/problem.hpp"
#include "registry/variant.hpp"

#include <cuda_runtime.h>

namespace tilewise::impl::reduce_axis {

namespace {

using namespace backend::cuda;

constexpr unsigned batch = 8, log_batches = 3, log_tile_loads = 6;

/// How a warp lies over lines.
struct warp_shape {
  unsigned log_lines, log_elements;

  __host__ __device__ unsigned log_tile() const { return log_elements + log_tile_loads; }
  __device__ unsigned line() const { return threadIdx.x & ((1u << log_lines) - 1); }
  __device__ unsigned element() const { return (threadIdx.x & ((1u << log_warp) - 1)) >> log_lines; }
};

unsigned log_of_at_least(std::uint64_t count) { return static_cast<unsigned>(std::countr_zero(std::bit_ceil(count))); }

warp_shape over_columns(std::uint64_t columns) {
  const unsigned log_lines = std::min(log_warp, log_of_at_least(columns));
  return {log_lines, log_warp - log_lines};
}

/// Element e of line l is from[e * element + l * line].
template <class T>
struct line_source {
  const T* from;
  std::uint64_t element, line;

  __host__ __device__ const T* at(std::uint64_t e, std::uint64_t l) const { return from + e * element + l * line; }
};

/// Pairs of neighbours, then of pairs: block i of 2^k values is left in value[i 2^k] if it lies within the first
/// `count`.
template <class Op, class T>
__device__ void merge_values(T (&value)[batch], unsigned count) {
#pragma unroll
  for (unsigned half = 1; half < batch; half *= 2)
#pragma unroll
    for (unsigned i = 0; i < batch; i += 2 * half)
      if (i + 2 * half <= count) value[i] = Op::template apply<T>(value[i], value[i + half]);
}

/// Each load becomes the block of its lanes' elements.
template <class Op, class T>
__device__ void merge_lanes(T (&value)[batch], const warp_shape& shape) {
  for (unsigned k = 0; k < shape.log_elements; ++k)
#pragma unroll
    for (T& one : value) one = Op::template apply<T>(one, __shfl_xor_sync(all_lanes, one, 1u << (shape.log_lines + k)));
}

/// Folds onto `prefix` fewer loads than a batch, longest blocks first.
template <class Op, class T>
__device__ T fold_loads(T prefix, const T* from, std::uint64_t step, unsigned count, const warp_shape& shape) {
  T value[batch] = {};
#pragma unroll
  for (unsigned i = 0; i < batch; ++i)
    if (i < count) value[i] = from[i * step];
  merge_lanes<Op>(value, shape);
  merge_values<Op>(value, count);
  // The block of a digit begins where the larger ones end.
  const bool has_four = (count & 4) != 0, has_two = (count & 2) != 0;
  const T two = has_four ? value[4] : value[0];
  const T one = has_four ? (has_two ? value[6] : value[4]) : (has_two ? value[2] : value[0]);
  if (has_four) prefix = Op::template apply<T>(prefix, value[0]);
  if (has_two) prefix = Op::template apply<T>(prefix, two);
  if ((count & 1) != 0) prefix = Op::template apply<T>(prefix, one);
  return prefix;
}

/// Folds onto `prefix` the first `count` elements of one load, of which this lane has `value`.
template <class Op, class T>
__device__ T fold_lanes(T prefix, T value, unsigned count, const warp_shape& shape) {
  T of_digit[log_warp + 1];
#pragma unroll
  for (unsigned k = 0; k <= log_warp; ++k) {
    if (k > shape.log_elements) continue;
    const unsigned first = count >> (k + 1) << (k + 1);
    of_digit[k] = __shfl_sync(all_lanes, value, first << shape.log_lines | shape.line());
    if (k < shape.log_elements)
      value = Op::template apply<T>(value, __shfl_xor_sync(all_lanes, value, 1u << (shape.log_lines + k)));
  }
#pragma unroll
  for (unsigned k = log_warp + 1; k-- > 0;)
    if ((count >> k & 1) != 0) prefix = Op::template apply<T>(prefix, of_digit[k]);
  return prefix;
}

/// Folds onto `prefix` at most a tile of elements of each of the warp's lines. This lane's first one is `from`, the
/// next ones are `step` apart.
template <class Op, class T>
__device__ T fold_line(T prefix, const T* from, std::uint64_t step, unsigned count, const warp_shape& shape) {
  T block[log_batches + 1] = {};
  const unsigned loads = count >> shape.log_elements, batches = loads / batch;
  for (unsigned b = 0; b < batches; ++b, from += batch * step) {
    T value[batch];
#pragma unroll
    for (unsigned i = 0; i < batch; ++i) value[i] = from[i * step];
    merge_lanes<Op>(value, shape);
    merge_values<Op>(value, batch);
    bool is_carried = true;  // counting in binary: equal blocks meet
#pragma unroll
    for (unsigned k = 0; k <= log_batches; ++k) {
      const bool meets = is_carried && (b >> k & 1) != 0;
      const T both = Op::template apply<T>(block[k], value[0]);
      if (is_carried && !meets) block[k] = value[0];
      if (meets) value[0] = both;
      is_carried = meets;
    }
  }
#pragma unroll
  for (unsigned k = log_batches + 1; k-- > 0;)
    if ((batches >> k & 1) != 0) prefix = Op::template apply<T>(prefix, block[k]);
  if (const unsigned rest = loads % batch; rest != 0) {
    prefix = fold_loads<Op>(prefix, from, step, rest, shape);
    from += rest * step;
  }
  if (const unsigned rest = count - (loads << shape.log_elements); rest != 0)
    prefix = fold_lanes<Op>(prefix, shape.element() < rest ? *from : T{}, rest, shape);
  return prefix;
}

/// Piece `at` of `lines` lines: the warp's, or where lanes never meet the thread's own, so that none is idle.
struct piece {
  std::uint64_t tile, line;
  bool is_there, is_first;  // of the lanes of its line

  __device__ piece(std::uint64_t thread, std::uint64_t lines, const warp_shape& shape) {
    const bool is_alone = shape.log_elements == 0;
    const std::uint64_t number = is_alone ? thread : thread >> log_warp;
    const std::uint64_t across = is_alone ? lines : (lines + (1ull << shape.log_lines) - 1) >> shape.log_lines;
    tile = number < across ? 0 : number / across;  // a division takes longer than a line of a few elements
    line = number - tile * across;
    if (!is_alone) line = line << shape.log_lines | shape.line();
    is_there = line < lines;
    if (!is_there) line = lines - 1;  // which it may read
    is_first = shape.element() == 0;
  }
};

template <class T, class Op>
__global__ void __launch_bounds__(group_size)
    fold_tiles(line_source<T> source, std::uint64_t lines, std::uint64_t threads, warp_shape shape, T* values) {
  for (std::uint64_t i = first_thread(); i < threads; i += all_threads()) {
    const piece here(i, lines, shape);
    const T value = fold_line<Op>(Op::template identity<T>(),
                                  source.at((here.tile << shape.log_tile()) + shape.element(), here.line),
                                  source.element << shape.log_elements, 1u << shape.log_tile(), shape);
    if (here.is_there && here.is_first) values[here.tile * lines + here.line] = value;
  }
}

/// Folds the `count` elements that are left of each line onto the prefixes of those before them, where there are any.
template <class T, class Op>
__global__ void __launch_bounds__(group_size)
    finish_lines(line_source<T> source, std::uint64_t lines, std::uint64_t threads, unsigned count, warp_shape shape,
                 const T* prefixes, destination<T> results) {
  for (std::uint64_t i = first_thread(); i < threads; i += all_threads()) {
    const piece here(i, lines, shape);
    const T prefix = prefix_before<Op>(prefixes, here.line);
    const T all = fold_line<Op>(prefix, source.at(shape.element(), here.line), source.element << shape.log_elements,
                                count, shape);
    if (here.is_there && here.is_first) results.template put<Op>(here.line, all);
  }
}

unsigned groups_for(std::uint64_t threads) {
  return static_cast<unsigned>(std::min(ceil_div(threads, std::uint64_t{group_size}), std::uint64_t{1} << 30));
}

/// Columns, a warp lying over all of them.
template <class T, class Op>
class columns_by_warps {
 public:
  columns_by_warps(const registry::lines& of, queue& q) : shape_(over_columns(of.count)), queue_(q) {}

  std::uint64_t tile_length(const registry::lines&) const { return std::uint64_t{1} << shape_.log_tile(); }

  void fold_tiles_to(T* values, std::uint64_t tiles, const T* a, const registry::lines& of) const {
    const std::uint64_t threads = threads_of(tiles, of.count);
    fold_tiles<T, Op><<<groups_for(threads), group_size, 0, queue_.stream()>>>(line_source<T>{a, of.element, of.line},
                                                                               of.count, threads, shape_, values);
    TW_CUDA(cudaGetLastError());
  }

  void finish(const T* a, const registry::lines& of, const T* prefixes, const destination<T>& results) const {
    const std::uint64_t threads = threads_of(1, of.count);
    finish_lines<T, Op><<<groups_for(threads), group_size, 0, queue_.stream()>>>(
        line_source<T>{a, of.element, of.line}, of.count, threads, static_cast<unsigned>(of.length), shape_, prefixes,
        results);
    TW_CUDA(cudaGetLastError());
  }

 private:
  std::uint64_t threads_of(std::uint64_t tiles, std::uint64_t lines) const {
    if (shape_.log_elements == 0) return tiles * lines;
    return tiles * ceil_div(lines, std::uint64_t{1} << shape_.log_lines) << log_warp;
  }

  warp_shape shape_;
  queue& queue_;
};

/// Columns by tiles in registers.
template <class T, class Op>
class columns_by_tiles {
 public:
  columns_by_tiles(const registry::lines&, queue& q) : queue_(q) {}

  std::uint64_t tile_length(const registry::lines& of) const { return std::uint64_t{1} << shape_of(of).log_length; }

  void fold_tiles_to(T* values, std::uint64_t tiles, const T* a, const registry::lines& of) const {
    const tile_shape tile = shape_of(of);
    tile_values<T, Op>
        <<<static_cast<unsigned>(tiles * tile.bands), group_size, 0, queue_.stream()>>>(a, of, tile, values);
    TW_CUDA(cudaGetLastError());
  }

  void finish(const T* a, const registry::lines& of, const T* prefixes, const destination<T>& results) const {
    const tile_shape tile = shape_of(of);
    if (tile.has_short_lines())
      finish_short_columns<T, Op><<<groups_for(of.count), group_size, 0, queue_.stream()>>>(a, of, prefixes, results);
    else
      finish_tiles<T, Op><<<tile.bands, group_size, 0, queue_.stream()>>>(a, of, tile, prefixes, results);
    TW_CUDA(cudaGetLastError());
  }

 private:
  static tile_shape shape_of(const registry::lines& of) { return shape_for(of, false, false); }

  queue& queue_;
};

/// Rows: tiles by a warp each, and what is left of them in registers or, where it is short, staged.
template <class T, class Op>
class rows_by_tiles {
 public:
  rows_by_tiles(const registry::lines&, queue& q) : queue_(q) {}

  std::uint64_t tile_length(const registry::lines&) const { return tile_elements; }

  void fold_tiles_to(T* values, std::uint64_t tiles, const T* a, const registry::lines& of) const {
    const bool packable = backend::cuda::is_packable(a) && of.line % backend::cuda::pack_length<T> == 0;
    row_tile_values<T, Op><<<groups_of_warps(of.count * tiles), group_size, 0, queue_.stream()>>>(
        a, of.line, of.count, tiles, packable, values);
    TW_CUDA(cudaGetLastError());
  }

  void finish(const T* a, const registry::lines& of, const T* prefixes, const destination<T>& results) const {
    if (of.length < reduce::short_row_end) {
      const reduce::short_rows<T> rows(a, of.count, of.line, of.length, units());
      finish_short_rows<T, Op><<<static_cast<unsigned>(rows.groups()), reduce::short_row_group, 0, queue_.stream()>>>(
          rows, prefixes, results);
    } else {
      const tile_shape tile = shape_for(of, true, of.line == of.length);
      finish_tiles<T, Op><<<tile.bands, group_size, 0, queue_.stream()>>>(a, of, tile, prefixes, results);
    }
    TW_CUDA(cudaGetLastError());
  }

 private:
  std::uint64_t units() const { return queue_.device().info().compute_units; }

  /// Persistent ones: of 2^25 doubles short-lived ones took a tenth longer on an H200.
  unsigned groups_of_warps(std::uint64_t warps) const {
    constexpr unsigned resident = 1024 / group_size;
    return static_cast<unsigned>(
        std::min(ceil_div(warps, std::uint64_t{group_size >> log_warp}), 2 * resident * units()));
  }

  queue& queue_;
};

/// Level by level: the values of whole tiles are lines of a higher level, and what is left of each line is folded onto
/// what these are reduced to.
template <class T, class Op, template <class, class> class Way>
void reduce_lines(const T* a, const registry::lines& of, axis along, const destination<T>& results, queue& q) {
  const Way<T, Op> way(of, q);
  const std::uint64_t tile = way.tile_length(of);
  if (of.length <= tile) return way.finish(a, of, nullptr, results);
  const std::uint64_t tiles = of.length / tile, done = tiles * tile;
  const backend::buffer values(q, of.count * tiles * sizeof(T)), prefixes(q, of.count * sizeof(T));
  way.fold_tiles_to(values.as<T>(), tiles, a, of);
  const registry::lines of_values(
      along == axis::rows ? matrix_layout{of.count, tiles, tiles} : matrix_layout{tiles, of.count, of.count}, along);
  const auto above = [&](const destination<T>& to) {
    reduce_lines<T, Op, Way>(values.as<const T>(), of_values, along, to, q);
  };
  if (done == of.length) return above(results);
  above({prefixes.as<T>(), T{}, false});
  registry::lines rest = of;
  rest.length -= done;
  way.finish(a + done * of.element, rest, prefixes.as<const T>(), results);
}

/// Whether a warp reads whole rows of columns, or a thread has a column to itself.
bool suits_tiles(const registry::lines& of) { return of.count >= warp_size || of.length <= items; }

template <class T, class Op>
void launch(const registry::problem& p, const registry::bindings& where, queue& q) {
  const registry::lines of = lines_of(p);
  if (of.count == 0) return;
  const axis along = axis_of(p);
  const T* const a = where.in[0].as<const T>();
  const T first = first_of<T>(p).value_or(Op::template identity<T>());
  const destination<T> results{where.out[0].as<T>(), first, true};
  if (along == axis::rows) return reduce_lines<T, Op, rows_by_tiles>(a, of, along, results, q);
  if (suits_tiles(of)) return reduce_lines<T, Op, columns_by_tiles>(a, of, along, results, q);
  reduce_lines<T, Op, columns_by_warps>(a, of, along, results, q);
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& q) {
  with_type_and_operator(p.type, operation_of(p), [&]<class T, class Op>(T, Op) { launch<T, Op>(p, where, enter(q)); });
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
