// SPDX-License-Identifier: Apache-2.0
// Sorts of each row or each column of a matrix at once.
#pragma once

#include <tilewise/matrix.hpp>
#include <tilewise/sort.hpp>

namespace tilewise {

/// With axis::rows, row i of the output is `sort` of row i of A, bit for bit; with axis::columns, column j is that of
/// column j. The output has as many rows and columns as A. It is either A itself, with the same layout, or does not
/// overlap A; otherwise throws `invalid_argument`. Elements between its rows are not changed. Throws `unsupported` for
/// a group of devices. Throws before it writes anything.
template <scalar T>
TILEWISE_API void sort_axis(std::span<const T> a, matrix_layout of_a, axis which, std::span<T> out,
                            matrix_layout of_out, const sort_options& options = {});

/// The same on a device, asynchronous in its queue.
template <scalar T>
TILEWISE_API void sort_axis(const array<T>& a, matrix_layout of_a, axis which, array<T>& out, matrix_layout of_out,
                            const sort_options& options = {});

template <host_range A, host_output<element_of<A>> Out>
void sort_axis(const A& a, matrix_layout of_a, axis which, Out&& out, matrix_layout of_out,
               const sort_options& options = {}) {
  tilewise::sort_axis(as_input(a), of_a, which, as_output(out), of_out, options);
}

// In place.
template <host_output Range>
void sort_axis(Range&& values, matrix_layout of, axis which, const sort_options& options = {}) {
  const auto all = as_output(values);
  tilewise::sort_axis(as_input(all), of, which, all, of, options);
}
template <scalar T>
void sort_axis(array<T>& values, matrix_layout of, axis which, const sort_options& options = {}) {
  tilewise::sort_axis(values, of, which, values, of, options);
}

/// Returns the sorted matrix, without gaps between its rows, instead of writing it to an output.
template <host_range A>
std::vector<element_of<A>> sorted_axis(const A& a, matrix_layout of_a, axis which, const sort_options& options = {}) {
  const matrix_layout packed(of_a.rows, of_a.columns);
  auto out = host_result<element_of<A>>(packed_elements(packed));
  tilewise::sort_axis(as_input(a), of_a, which, as_output(out), packed, options);
  return out;
}
template <scalar T>
array<T> sorted_axis(const array<T>& a, matrix_layout of_a, axis which, const sort_options& options = {}) {
  const matrix_layout packed(of_a.rows, of_a.columns);
  array<T> out = a.device().template allocate<T>(packed_elements(packed));
  tilewise::sort_axis(a, of_a, which, out, packed, options);
  return out;
}

}  // namespace tilewise
