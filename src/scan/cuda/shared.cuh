// SPDX-License-Identifier: Apache-2.0
// What the scan kernels share: how a prefix becomes an output.
#pragma once

#include "order/operators.hpp"
#include "scan/problem.hpp"

namespace tilewise::impl::scan {

/// out[i] = init + P(i + shift). Without an initial value `init` is the identity, which leaves the bits of every prefix
/// unchanged, and init + P(0) is init since P(0) is the identity too; so there are no special cases.
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

}  // namespace tilewise::impl::scan
