// SPDX-License-Identifier: Apache-2.0
// How a reduction along an axis is written as a registry::problem: shape {M, N}, or {M, N, stride}; settings op, init
// and axis, and the number init.
#pragma once

#include "registry/fold.hpp"
#include "registry/matrix_shape.hpp"

#include <optional>

namespace tilewise::impl::reduce_axis {

const registry::algorithm& reduce_axis_algorithm();

using registry::fold::operation_of;
inline constexpr std::size_t init_setting = 1, axis_setting = 2;
inline bool has_init(const registry::problem& p) { return p.setting[init_setting] == 1; }
inline axis axis_of(const registry::problem& p) { return static_cast<axis>(p.setting[axis_setting]); }

inline matrix_layout layout_of(const registry::problem& p) {
  return {p.shape[0], p.shape[1], p.shape[p.shape.rank == 3 ? 2 : 1]};
}

/// The lines; each is reduced to one value.
inline registry::lines lines_of(const registry::problem& p) { return {layout_of(p), axis_of(p)}; }

/// The value that every result begins with, if any: the initial value or, for lines without elements, the operator's
/// value for an empty array.
template <class T>
std::optional<T> first_of(const registry::problem& p) {
  if (has_init(p)) return p.number[0].as<T>();
  if (lines_of(p).length == 0) return T(operation_of(p) == op::product ? 1 : 0);
  return {};
}

}  // namespace tilewise::impl::reduce_axis
