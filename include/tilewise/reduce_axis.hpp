// SPDX-License-Identifier: Apache-2.0
// The reduction of each row or each column of a matrix at once, in the pairwise order.
#pragma once

#include <tilewise/matrix.hpp>
#include <tilewise/reduce.hpp>

namespace tilewise {

/// The number of values that `reduce_axis` computes: the rows or the columns of A.
constexpr std::uint64_t lines_of(const matrix_layout& a, axis which) {
  return which == axis::rows ? a.rows : a.columns;
}

/// With axis::rows, values[i] is `reduce` of row i of A, bit for bit; with axis::columns, values[j] is `reduce` of
/// column j. `values` has lines_of(layout, which) elements and must not overlap A. `init` applies to each row or
/// column. Rows or columns without elements give the value of an empty reduction; for min and max without `init` that
/// is `invalid_argument`. Throws before it writes anything.
template <scalar T>
TILEWISE_API void reduce_axis(std::span<const T> a, matrix_layout layout, axis which, std::span<T> values,
                              const reduce_options& options = {});
template <scalar T>
TILEWISE_API void reduce_axis(std::span<const T> a, matrix_layout layout, axis which, std::span<T> values,
                              std::type_identity_t<T> init, const reduce_options& options = {});

/// The same on a device, asynchronous in its queue.
template <scalar T>
TILEWISE_API void reduce_axis(const array<T>& a, matrix_layout layout, axis which, array<T>& values,
                              const reduce_options& options = {});
template <scalar T>
TILEWISE_API void reduce_axis(const array<T>& a, matrix_layout layout, axis which, array<T>& values,
                              std::type_identity_t<T> init, const reduce_options& options = {});

template <host_range A, host_output<element_of<A>> Out>
void reduce_axis(const A& a, matrix_layout layout, axis which, Out&& values, const reduce_options& options = {}) {
  tilewise::reduce_axis(as_input(a), layout, which, as_output(values), options);
}
template <host_range A, host_output<element_of<A>> Out>
void reduce_axis(const A& a, matrix_layout layout, axis which, Out&& values, element_of<A> init,
                 const reduce_options& options = {}) {
  tilewise::reduce_axis(as_input(a), layout, which, as_output(values), init, options);
}
template <host_range A>
std::vector<element_of<A>> reduce_axis(const A& a, matrix_layout layout, axis which,
                                       const reduce_options& options = {}) {
  auto values = host_result<element_of<A>>(lines_of(layout, which));
  tilewise::reduce_axis(as_input(a), layout, which, as_output(values), options);
  return values;
}
template <scalar T>
array<T> reduce_axis(const array<T>& a, matrix_layout layout, axis which, const reduce_options& options = {}) {
  array<T> values = a.device().template allocate<T>(lines_of(layout, which));
  tilewise::reduce_axis(a, layout, which, values, options);
  return values;
}

}  // namespace tilewise
