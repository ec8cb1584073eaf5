// SPDX-License-Identifier: Apache-2.0
// How a scan along an axis is written as a registry::problem: shape {M, N}, or {M, N, stride of A, stride of the
// output}; the settings op, kind and init, which are those of scan, and axis; the number init.
#pragma once

#include "registry/matrix_shape.hpp"
#include "scan/problem.hpp"

namespace tilewise::impl::scan_axis {

const registry::algorithm& scan_axis_algorithm();

using scan::init_of, scan::is_exclusive, scan::operation_of, scan::starts_from_init;
inline constexpr std::size_t axis_setting = 3;
inline axis axis_of(const registry::problem& p) { return static_cast<axis>(p.setting[axis_setting]); }

inline matrix_layout layout_of_input(const registry::problem& p) {
  return {p.shape[0], p.shape[1], p.shape[p.shape.rank == 4 ? 2 : 1]};
}
inline matrix_layout layout_of_output(const registry::problem& p) {
  return {p.shape[0], p.shape[1], p.shape[p.shape.rank == 4 ? 3 : 1]};
}

/// The lines to scan, and where their results go.
inline registry::lines lines_of_input(const registry::problem& p) { return {layout_of_input(p), axis_of(p)}; }
inline registry::lines lines_of_output(const registry::problem& p) { return {layout_of_output(p), axis_of(p)}; }

/// The scan of one line.
inline registry::problem scan_of_line(const registry::problem& p) {
  registry::problem line = p;
  line.what = &scan::scan_algorithm();
  line.shape = {lines_of_input(p).length};
  line.setting[axis_setting] = 0;
  return line;
}

/// The same problem for other matrices.
inline registry::problem of_matrices(const registry::problem& p, const matrix_layout& from, const matrix_layout& to) {
  registry::problem other = p;
  other.shape = {from.rows, from.columns};
  if (!registry::is_packed(from) || !registry::is_packed(to))
    other.shape = {from.rows, from.columns, from.stride, to.stride};
  return other;
}

/// The left operand of every result. It is the identity, which changes none, if the scan has no initial value.
template <class T, class Op>
T left_of_results(const registry::problem& p) {
  return starts_from_init(p) ? init_of<T>(p) : Op::template identity<T>();
}

}  // namespace tilewise::impl::scan_axis
