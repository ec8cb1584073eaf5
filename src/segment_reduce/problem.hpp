// SPDX-License-Identifier: Apache-2.0
// How a reduction of segments is written as a registry::problem: shape {elements, segments}; settings op and init, and
// the number init.
#pragma once

#include "order/operators.hpp"
#include "registry/fold.hpp"

#include <span>

namespace tilewise::impl::segment_reduce {

const registry::algorithm& segment_reduce_algorithm();

using registry::fold::operation_of;
inline bool has_init(const registry::problem& p) { return p.setting[1] == 1; }
inline std::uint64_t segments_of(const registry::problem& p) { return p.shape[1]; }
/// Whether an empty segment has a value.
inline bool may_be_empty(const registry::problem& p) { return has_init(p) || !registry::fold::needs_init(p); }

/// The offsets, where memory has addresses.
inline std::span<const std::int64_t> offsets_of(const registry::problem& p, const registry::bindings& where) {
  return {where.in[1].as<const std::int64_t>(), segments_of(p) + 1};
}

/// What every result begins with: the initial value, or the operator's identity, which changes no bit.
template <class T, class Op>
T first_of(const registry::problem& p) {
  return has_init(p) ? p.number[0].as<T>() : Op::template identity<T>();
}
/// The result of an empty segment, where it has one.
template <class T, class Op>
T empty_value(const registry::problem& p) {
  return order::canonical(has_init(p) ? p.number[0].as<T>() : T(Op::id == op::product ? 1 : 0));
}

}  // namespace tilewise::impl::segment_reduce
