// SPDX-License-Identifier: Apache-2.0
// How a reduction is written as a registry::problem: settings op and init, and the number init.
#pragma once

#include "registry/fold.hpp"

namespace tilewise::impl::reduce {

const registry::algorithm& reduce_algorithm();
registry::problem describe(const detail::request& r);  // reduce.cpp
bool few(const detail::request& r);

using registry::fold::operation_of;
inline bool has_init(const registry::problem& p) { return p.setting[1] == 1; }

template <class T>
T init_of(const registry::problem& p) {
  return p.number[0].as<T>();
}

/// The initial value that is passed to a device's kernels. An empty sum is 0 and an empty product 1.
inline base::scalar_value init_value(const registry::problem& p) {
  return with_type(p.type, [&]<class T>(T) {
    return base::scalar_value::of(has_init(p) ? init_of<T>(p) : T(operation_of(p) == op::product ? 1 : 0));
  });
}

/// The result before it is made canonical: init + prefix, where prefix = P(n). For an empty array it is init, or the
/// operator's value for an empty array.
template <class T, class Op>
T result_of(const registry::problem& p, T prefix) {
  if (p.n() == 0) return has_init(p) ? init_of<T>(p) : T(Op::id == op::product ? 1 : 0);
  return has_init(p) ? Op::template apply<T>(init_of<T>(p), prefix) : prefix;
}

/// A reduction of n elements. `init` is null if there is no initial value.
template <class T>
registry::problem problem_of(std::uint64_t n, const T* init, op operation) {
  registry::problem p{.what = &reduce_algorithm(), .type = dtype_of<T>, .shape = {n}};
  p.setting = {static_cast<std::uint8_t>(operation), static_cast<std::uint8_t>(init != nullptr)};
  if (init != nullptr) p.number[0] = base::scalar_value::of(*init);
  return p;
}

}  // namespace tilewise::impl::reduce
