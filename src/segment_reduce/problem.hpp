// SPDX-License-Identifier: Apache-2.0
// How a reduction of segments is written as a registry::problem: shape {elements, segments}; settings op and init, and
// the number init. Whether offsets describe segments: offsets.cpp.
#pragma once

#include "order/operators.hpp"
#include "reduce/problem.hpp"

#include <span>

namespace tilewise::impl::segment_reduce {

const registry::algorithm& segment_reduce_algorithm();

using reduce::has_init, reduce::init_of;
using registry::fold::operation_of;
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
  return has_init(p) ? init_of<T>(p) : Op::template identity<T>();
}
/// The result of an empty segment, where it has one.
template <class T, class Op>
T empty_value(const registry::problem& p) {
  return order::canonical(has_init(p) ? init_of<T>(p) : T(Op::id == op::product ? 1 : 0));
}

/// Throws `invalid_argument`, and names the place, unless the offsets begin with 0, never fall and end with the number
/// of elements, and unless each segment has a value.
void require_segments(const registry::problem& p, std::span<const std::int64_t> offsets);

/// The same for offsets on the queue's device, which are downloaded for it. Waits.
void require_segments_on(const registry::problem& p, const backend::memory& offsets, backend::queue& queue);
/// For offsets in which the device has found a fault: names it.
[[noreturn]] void refuse_offsets(const registry::problem& p, const backend::memory& offsets, backend::queue& queue);

}  // namespace tilewise::impl::segment_reduce
