// SPDX-License-Identifier: Apache-2.0
// What several variants of reduce on OpenCL tell their kernels.
#pragma once

#include "reduce/problem.hpp"
#include "registry/variant.hpp"

namespace tilewise::impl::reduce {

/// An empty sum is 0 and an empty product 1.
inline base::scalar_value init_value(const registry::problem& p) {
  return with_type(p.type, [&]<class T>(T) {
    return base::scalar_value::of(has_init(p) ? init_of<T>(p) : T(operation_of(p) == op::product ? 1 : 0));
  });
}

}  // namespace tilewise::impl::reduce
