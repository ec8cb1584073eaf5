// SPDX-License-Identifier: Apache-2.0
// What:   the fold of the values of a few consecutive blocks, which may lie on several devices.
// Order:  a block merges with its left neighbour as soon as both have one level; what is left is folded from the left.
// Shape:  one group: a lane loads each value, so that other devices' come at once; the first lane folds.
// Limits: 64 values.
// Twins:  append and fold in order/segment.hpp.
#include "backend/cuda/dispatch.hpp"
#include "backend/cuda/error.hpp"
#include "backend/cuda/queue.hpp"
#include "reduce/problem.hpp"
#include "reduce/segment.hpp"

namespace tilewise::impl::reduce {

namespace {

using namespace backend::cuda;

template <class T>
struct block_list {
  const T* value[most_block_places];
  std::uint8_t level[most_block_places];
  unsigned count;
  T first;  // the initial value or the identity
  T* result;
};

template <class T, class Op>
__global__ void __launch_bounds__(most_block_places) fold_blocks(const __grid_constant__ block_list<T> blocks) {
  __shared__ T value[most_block_places];
  __shared__ std::uint8_t level[most_block_places];
  const unsigned i = threadIdx.x;
  if (i < blocks.count) value[i] = *blocks.value[i], level[i] = blocks.level[i];
  __syncthreads();
  if (i != 0) return;
  unsigned folded = 0;  // values that cannot merge yet, at the front
  for (unsigned next = 0; next < blocks.count; ++next) {
    T merged = value[next];
    unsigned of_level = level[next];
    for (; folded != 0 && level[folded - 1] == of_level; ++of_level)
      merged = Op::template apply<T>(value[--folded], merged);
    value[folded] = merged;
    level[folded++] = static_cast<std::uint8_t>(of_level);
  }
  T prefix = Op::template identity<T>();
  for (unsigned next = 0; next < folded; ++next) prefix = Op::template apply<T>(prefix, value[next]);
  *blocks.result = order::canonical(Op::template apply<T>(blocks.first, prefix));
}

}  // namespace

void fold_blocks_on_cuda(const registry::problem& p, std::span<const block_place> blocks, const backend::memory& result,
                         backend::queue& q) {
  with_type_and_operator(p.type, operation_of(p), [&]<class T, class Op>(T, Op) {
    block_list<T> list{};
    for (const block_place& one : blocks) {
      list.value[list.count] = one.where.as<const T>();
      list.level[list.count++] = static_cast<std::uint8_t>(one.level);
    }
    list.first = has_init(p) ? init_of<T>(p) : Op::template identity<T>();
    list.result = result.as<T>();
    fold_blocks<T, Op><<<1, most_block_places, 0, enter(q).stream()>>>(list);
  });
  TW_CUDA(cudaGetLastError());
}

}  // namespace tilewise::impl::reduce
