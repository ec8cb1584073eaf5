// SPDX-License-Identifier: Apache-2.0
// Matrix-vector product and dot product, with sums in the order of `reduce`.
#pragma once

#include <tilewise/call.hpp>

namespace tilewise {

namespace detail {

/// Computes few products, see are_few(), on the calling thread.
template <class T>
TILEWISE_API T dot_few(const T* x, const T* y, std::uint64_t count);

inline void matvec(const argument& a, const argument& x, const argument& y, const placement& where) {
  const argument in[]{a, x};
  call({.algorithm = "matvec", .in = in, .out = {&y, 1}}, where);
}

/// The product of a matrix of one row.
inline void dot(argument x, const argument& y, const argument& result, const placement& where) {
  if (x.size != y.size)
    throw error(errc::invalid_argument, "x has " + std::to_string(x.size) + " elements and y has " +
                                            std::to_string(y.size) + "; a dot product needs equally many in both");
  x.of = matrix_layout(1, x.size);
  matvec(x, y, result, where);
}

}  // namespace detail

/// y = A x: y[i] = dot(A[i,:], x). A is M x N and row-major. y must not overlap A or x. If N is 0, y is all zeros.
/// Asynchronous on a device. Throws `invalid_argument`, with the shapes, before it writes anything.
template <plain_operand A, beside<A> X, output_beside<A> Y>
void matvec(const A& a, matrix_layout of_a, const X& x, Y&& y, const placement& where = {}) {
  detail::matvec(detail::argument_for("A", a, of_a), detail::argument_for("x", x), detail::argument_for("y", y), where);
}
/// Returns y.
template <plain_operand A, beside<A> X>
auto matvec(const A& a, matrix_layout of_a, const X& x, const placement& where = {}) {
  auto y = detail::result_beside<element_of<A>>(a, of_a.rows);
  tilewise::matvec(a, of_a, x, y, where);
  return y;
}

/// The sum, in the order of `reduce`, of the rounded products x[i] * y[i]: the matrix-vector product of a single row. x
/// and y have the same size. Without elements the result is 0. Waits for the value of arrays.
template <plain_operand X, beside<X> Y>
element_of<X> dot(const X& x, const Y& y, const placement& where = {}) {
  if constexpr (host_range<X>)
    if (const auto* left = detail::data_of(x), *right = detail::data_of(y);
        detail::is_left_open(where) && std::ranges::size(x) == std::ranges::size(y) && right != nullptr &&
        detail::are_few(left, std::ranges::size(x)))
      return detail::dot_few(left, right, std::ranges::size(x));
  element_of<X> result;
  const detail::argument to{.name = "the result", .type = dtype_of<element_of<X>>, .size = 1, .host = &result};
  detail::dot(detail::argument_for("x", x), detail::argument_for("y", y), to, where);
  return result;
}

TILEWISE_REFUSE_OTHERS(matvec)
TILEWISE_REFUSE_OTHERS(dot)

}  // namespace tilewise
