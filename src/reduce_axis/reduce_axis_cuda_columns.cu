// SPDX-License-Identifier: Apache-2.0
// What:   reduce_axis of many columns on CUDA.
// Order:  that of reduce_axis.cl: tiles are aligned blocks, what is left over are the digits of the length.
// Shape:  a thread has 64 elements of one column, its neighbours those of the columns beside it, so that a warp reads
//         rows as they lie. Eight loads are under way at a time; blocks meet on a stack in registers. A launch for each
//         level of whole tiles; the last one folds what is left on each level, the highest first.
// Limits: none; fewer columns than a warp has threads are reduce_axis_cuda.cu's.
// Twins:  reduce_axis_serial.cpp, reduce_axis_cpu_kernels.cpp.
#include "backend/cuda/cuda_dispatch.hpp"
#include "backend/cuda/cuda_error.hpp"
#include "backend/cuda/cuda_queue.hpp"
#include "base/ceil_div.hpp"
#include "reduce_axis/reduce_axis_cuda.hpp"

#include <cuda_runtime.h>

namespace tilewise::impl::reduce_axis {

namespace {

using namespace backend::cuda;

constexpr unsigned group_size = 256;
constexpr unsigned log_tile = 6, tile_length = 1u << log_tile;
constexpr unsigned batch = 8;

/// Folds onto `prefix` the blocks into which the digits of `count` cut a batch that is not whole, longest first.
template <class Op, class T>
__device__ T fold_rest(T prefix, const T* from, std::uint64_t stride, unsigned count) {
  T value[batch];
#pragma unroll
  for (unsigned i = 0; i < batch; ++i)
    if (i < count) value[i] = from[i * stride];
#pragma unroll
  for (unsigned half = 1; half < batch; half *= 2)
#pragma unroll
    for (unsigned i = 0; i < batch; i += 2 * half)
      if (i + 2 * half <= count) value[i] = Op::template apply<T>(value[i], value[i + half]);
  if (count & 4) prefix = Op::template apply<T>(prefix, value[0]);
  if (count & 2) prefix = Op::template apply<T>(prefix, count & 4 ? value[4] : value[0]);
  if (count & 1)
    prefix = Op::template apply<T>(prefix,
                                   count & 4 ? (count & 2 ? value[6] : value[4]) : (count & 2 ? value[2] : value[0]));
  return prefix;
}

/// Folds onto `prefix` at most a tile of elements, `stride` apart.
template <class Op, class T>
__device__ T fold_column(T prefix, const T* from, std::uint64_t stride, unsigned count) {
  constexpr unsigned levels = log_tile - 2;  // of whole batches
  T block[levels];
  const unsigned batches = count / batch;
  for (unsigned b = 0; b < batches; ++b, from += batch * stride) {
    T value[batch];
#pragma unroll
    for (unsigned i = 0; i < batch; ++i) value[i] = from[i * stride];
#pragma unroll
    for (unsigned half = 1; half < batch; half *= 2)
#pragma unroll
      for (unsigned i = 0; i < batch; i += 2 * half) value[i] = Op::template apply<T>(value[i], value[i + half]);
    bool is_placed = false;
#pragma unroll
    for (unsigned s = 0; s < levels; ++s) {
      if (is_placed) continue;
      is_placed = (b >> s & 1) == 0;
      if (is_placed)
        block[s] = value[0];
      else
        value[0] = Op::template apply<T>(block[s], value[0]);
    }
  }
#pragma unroll
  for (unsigned s = levels; s-- > 0;)
    if (batches >> s & 1) prefix = Op::template apply<T>(prefix, block[s]);
  return fold_rest<Op>(prefix, from, stride, count % batch);
}

template <class T, class Op>
__global__ void __launch_bounds__(group_size)
    fold_tiles_of_columns(const T* from, std::uint64_t stride, std::uint64_t columns, std::uint64_t tiles, T* values) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * group_size;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * group_size + threadIdx.x; i < tiles * columns; i += step) {
    const std::uint64_t tile = i / columns, column = i % columns;
    values[i] =
        fold_column<Op>(Op::template identity<T>(), from + (tile << log_tile) * stride + column, stride, tile_length);
  }
}

/// `values` has the values of the whole tiles on levels 1 to `top`, one level after the other.
template <class T, class Op>
__global__ void __launch_bounds__(group_size)
    finish_columns(const T* in, std::uint64_t stride, std::uint64_t columns, std::uint64_t n, unsigned top,
                   const T* values, T first, T* out) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * group_size;
  for (std::uint64_t column = std::uint64_t{blockIdx.x} * group_size + threadIdx.x; column < columns; column += step) {
    T prefix = Op::template identity<T>();
    for (unsigned level = top + 1; level-- > 0;) {
      const std::uint64_t count = n >> level * log_tile;
      const std::uint64_t whole = level == top ? 0 : count >> log_tile << log_tile;
      const T* of_level = in;
      if (level != 0) {
        of_level = values;
        for (unsigned below = 1; below < level; ++below) of_level += (n >> below * log_tile) * columns;
      }
      const std::uint64_t row = level == 0 ? stride : columns;
      prefix = fold_column<Op>(prefix, of_level + whole * row + column, row, static_cast<unsigned>(count - whole));
    }
    out[column] = order::canonical(Op::template apply<T>(first, prefix));
  }
}

template <class T, class Op>
void launch(const registry::problem& p, const registry::bindings& where, queue& q) {
  const registry::lines of = lines_of(p);
  unsigned top = 0;
  std::uint64_t room = 0;
  while (of.length >> top * log_tile > tile_length) room += of.length >> ++top * log_tile;
  const backend::buffer workspace(q, room * of.count * sizeof(T));
  const T* from = where.in[0].as<const T>();
  std::uint64_t stride = of.element;
  T* to = workspace.as<T>();
  for (unsigned level = 1; level <= top; ++level) {
    const std::uint64_t tiles = of.length >> level * log_tile;
    fold_tiles_of_columns<T, Op>
        <<<groups_for(ceil_div(tiles * of.count, std::uint64_t{group_size})), group_size, 0, q.stream()>>>(
            from, stride, of.count, tiles, to);
    TW_CUDA(cudaGetLastError());
    from = to;
    stride = of.count;
    to += tiles * of.count;
  }
  const T first = first_of<T>(p).value_or(Op::template identity<T>());
  finish_columns<T, Op><<<groups_for(ceil_div(of.count, std::uint64_t{group_size})), group_size, 0, q.stream()>>>(
      where.in[0].as<const T>(), of.element, of.count, of.length, top, workspace.as<T>(), first, where.out[0].as<T>());
  TW_CUDA(cudaGetLastError());
}

}  // namespace

void reduce_columns_on_cuda(const registry::problem& p, const registry::bindings& where, backend::queue& q) {
  with_type_and_operator(p.type, operation_of(p), [&]<class T, class Op>(T, Op) { launch<T, Op>(p, where, enter(q)); });
}

}  // namespace tilewise::impl::reduce_axis
