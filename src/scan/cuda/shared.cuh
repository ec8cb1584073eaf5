// SPDX-License-Identifier: Apache-2.0
// Shared by the scan kernels: how a prefix becomes an output, and prefixes within the elements of one warp or one lane.
#pragma once

#include "backend/cuda/warp.cuh"
#include "order/operators.hpp"
#include "scan/problem.hpp"

namespace tilewise::impl::scan {

/// out[i] = init + P(i + shift). Without an initial value, `init` is the identity, which does not change the bits of
/// any prefix. P(0) is the identity too, so init + P(0) is init. So there are no special cases.
template <class T, class Op>
struct output_rule {
  T init;
  unsigned shift;  // 1 inclusive, 0 exclusive

  __device__ T operator()(T prefix) const { return order::canonical(Op::template apply<T>(init, prefix)); }
};

template <class T, class Op>
output_rule<T, Op> output_rule_of(const registry::problem& p) {
  return {starts_from_init(p) ? init_of<T>(p) : Op::template identity<T>(), is_exclusive(p) ? 0u : 1u};
}

// Prefixes within the elements of one warp or one lane, from the prefix before them. Called by whole warps.

/// P(lane % Width) for groups of Width lanes with one block value per lane. `before` is P(0).
template <class Op, unsigned Width = backend::cuda::warp_size, class T>
__device__ T lanes_prefix(T value, T before) {
  T sibling_value[5];
#pragma unroll
  for (unsigned bit = 0; 1u << bit < Width; ++bit) {
    sibling_value[bit] = __shfl_xor_sync(backend::cuda::all_lanes, value, 1u << bit);
    value = Op::template apply<T>(value, sibling_value[bit]);
  }
#pragma unroll
  for (unsigned bit = 5; bit-- > 0;)
    if (1u << bit < Width && (threadIdx.x >> bit & 1) != 0) before = Op::template apply<T>(before, sibling_value[bit]);
  return before;
}

/// The prefix before each of Length neighbours. `before` is the prefix before the first.
template <class Op, unsigned Length, class T>
__device__ void prefixes(const T* x, T before, T* p) {
  if constexpr (Length == 1) {
    p[0] = before;
  } else {
    prefixes<Op, Length / 2>(x, before, p);
    prefixes<Op, Length / 2>(x + Length / 2, Op::template apply<T>(before, backend::cuda::tree_of<Op, Length / 2>(x)),
                             p + Length / 2);
  }
}

}  // namespace tilewise::impl::scan
