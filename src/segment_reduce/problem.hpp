// SPDX-License-Identifier: Apache-2.0
// How a reduction of segments is written as a registry::problem: shape {elements, segments}; settings op and init, and
// the number init.
#pragma once

#include "order/operators.hpp"
#include "reduce/problem.hpp"
#include "segment_reduce/offsets.hpp"

namespace tilewise::impl::segment_reduce {

const registry::algorithm& segment_reduce_algorithm();

using reduce::has_init, reduce::init_of;
using registry::fold::operation_of;
inline std::uint64_t segments_of(const registry::problem& p) { return p.shape[1]; }
/// Whether an empty segment has a value.
inline bool may_be_empty(const registry::problem& p) { return has_init(p) || !registry::fold::needs_init(p); }

inline segmentation segmentation_of(const registry::problem& p) {
  return {p.n(), segments_of(p), may_be_empty(p) ? std::string_view() : name_of(operation_of(p))};
}

/// What every result begins with: the initial value, or the operator's identity, which changes no bit.
template <class T, class Op>
T first_of(const registry::problem& p) {
  return has_init(p) ? init_of<T>(p) : Op::template identity<T>();
}
/// The result of an empty segment, where it has one.
template <class T, class Op>
T empty_value(const registry::problem& p) {
  return order::canonical(has_init(p) ? init_of<T>(p) : T(Op::id == op::product ? 1 : 0));
}

}  // namespace tilewise::impl::segment_reduce
