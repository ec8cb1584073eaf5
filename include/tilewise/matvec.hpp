// SPDX-License-Identifier: Apache-2.0
// Matrix-vector product and dot product, with sums in the order of `reduce`.
#pragma once

#include <tilewise/array.hpp>
#include <tilewise/error.hpp>
#include <tilewise/export.hpp>
#include <tilewise/matrix.hpp>

#include <optional>

namespace tilewise {

/// Where and how `matvec` computes.
struct matvec_options {
  std::optional<tilewise::device> device = {};  ///< for host data (default: the CPU); arrays use their own device
  std::string_view variant = {};                ///< force one; default: chosen
  std::string_view tuning = {};                 ///< never changes a bit
};

/// y = A x: y[i] = dot(A[i,:], x). A is M x N and row-major. y must not overlap A or x. If N is 0, y is all zeros.
/// Throws `invalid_argument`, with the shapes, before it writes anything.
template <scalar T>
TILEWISE_API void matvec(std::span<const T> a, matrix_layout layout, std::span<const T> x, std::span<T> y,
                         const matvec_options& options = {});

/// The same on a device, asynchronous in its queue.
template <scalar T>
TILEWISE_API void matvec(const array<T>& a, matrix_layout layout, const array<T>& x, array<T>& y,
                         const matvec_options& options = {});

/// The sum, in the order of `reduce`, of the rounded products x[i] * y[i]: the matrix-vector product of a single row. x
/// and y have the same size. Without elements the result is 0.
template <scalar T>
TILEWISE_API T dot(std::span<const T> x, std::span<const T> y, const matvec_options& options = {});

/// The same on a device; waits for the value.
template <scalar T>
TILEWISE_API T dot(const array<T>& x, const array<T>& y, const matvec_options& options = {});

template <host_range A, host_range<element_of<A>> X, host_output<element_of<A>> Y>
void matvec(const A& a, matrix_layout layout, const X& x, Y&& y, const matvec_options& options = {}) {
  tilewise::matvec(as_input(a), layout, as_input(x), as_output(y), options);
}
template <host_range A, host_range<element_of<A>> X>
std::vector<element_of<A>> matvec(const A& a, matrix_layout layout, const X& x, const matvec_options& options = {}) {
  auto y = host_result<element_of<A>>(layout.rows);
  tilewise::matvec(as_input(a), layout, as_input(x), as_output(y), options);
  return y;
}
template <scalar T>
array<T> matvec(const array<T>& a, matrix_layout layout, const array<T>& x, const matvec_options& options = {}) {
  array<T> y = a.device().template allocate<T>(layout.rows);
  tilewise::matvec(a, layout, x, y, options);
  return y;
}
template <host_range X, host_range<element_of<X>> Y>
element_of<X> dot(const X& x, const Y& y, const matvec_options& options = {}) {
  return tilewise::dot(as_input(x), as_input(y), options);
}

}  // namespace tilewise
