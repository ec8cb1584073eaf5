// SPDX-License-Identifier: Apache-2.0
// How a reduction along an axis is written as a registry::problem: shape {M, N}, or {M, N, stride}; settings op, init
// and axis, and the number init.
#pragma once

#include "registry/fold.hpp"

#include <tilewise/matrix.hpp>

#include <optional>

namespace tilewise::impl::reduce_axis {

const registry::algorithm& reduce_axis_algorithm();

using registry::fold::operation_of;
inline bool has_init(const registry::problem& p) { return p.setting[1] == 1; }
inline axis axis_of(const registry::problem& p) { return static_cast<axis>(p.setting[2]); }

/// Elements from a row's begin to the next one's.
inline std::uint64_t stride_of(const registry::problem& p) { return p.shape[p.shape.rank == 3 ? 2 : 1]; }

/// The lines that are reduced, each to one value: rows, or columns. Element e of line l is at e * element + l * line.
struct lines {
  std::uint64_t count, length;
  std::uint64_t line, element;

  explicit lines(const registry::problem& p) {
    const std::uint64_t stride = stride_of(p);
    const bool of_rows = axis_of(p) == axis::rows;
    count = p.shape[of_rows ? 0 : 1];
    length = p.shape[of_rows ? 1 : 0];
    line = of_rows ? stride : 1;
    element = of_rows ? 1 : stride;
  }
};

/// What every result begins with, if anything: the initial value or, of lines without elements, the operator's.
template <class T>
std::optional<T> first_of(const registry::problem& p) {
  if (has_init(p)) return p.number[0].as<T>();
  if (lines(p).length == 0) return T(operation_of(p) == op::product ? 1 : 0);
  return {};
}

}  // namespace tilewise::impl::reduce_axis
