// SPDX-License-Identifier: Apache-2.0
// The public functions of matmul: check what only their arguments show, describe the problem, hand it to registry/call.
#include <tilewise/matmul.hpp>

#include "base/instantiate.hpp"
#include "matmul/problem.hpp"
#include "registry/call.hpp"
#include "registry/matrix_shape.hpp"

namespace tilewise {

using registry::matrix_operand;

namespace {

std::string text_of(matrix_layout l) { return registry::shape_text(l.rows, l.columns); }

void require_fit(matrix_layout a, matrix_layout b, matrix_layout c) {
  if (a.columns != b.rows)
    throw error(errc::invalid_argument,
                "A is " + text_of(a) + " and B is " + text_of(b) + "; A must have as many columns as B has rows");
  if (c.rows != a.rows || c.columns != b.columns)
    throw error(errc::invalid_argument, "C is " + text_of(c) + ", but the product of A, " + text_of(a) + ", and B, " +
                                            text_of(b) + ", is " + registry::shape_text(a.rows, b.columns));
}

template <class T>
registry::problem describe(matrix_layout a, matrix_layout b, matrix_layout c) {
  require_fit(a, b, c);
  registry::problem p{.what = &impl::matmul::matmul_algorithm(), .type = dtype_of<T>, .shape = {}};
  if (registry::is_packed(a) && registry::is_packed(b) && registry::is_packed(c))
    p.shape = {a.rows, b.columns, a.columns};
  else
    p.shape = {a.rows, b.columns, a.columns, a.stride, b.stride, c.stride};
  registry::admit(p, {});
  return p;
}

}  // namespace

template <scalar T>
void matmul(std::span<const T> a, matrix_layout a_layout, std::span<const T> b, matrix_layout b_layout, std::span<T> c,
            matrix_layout c_layout, const matmul_options& options) {
  const registry::problem p = describe<T>(a_layout, b_layout, c_layout);
  registry::run_admitted(p, options, {matrix_operand<T>("A", a, a_layout), matrix_operand<T>("B", b, b_layout)},
                         {matrix_operand<T>("C", c, c_layout)});
}

template <scalar T>
void matmul(const array<T>& a, matrix_layout a_layout, const array<T>& b, matrix_layout b_layout, array<T>& c,
            matrix_layout c_layout, const matmul_options& options) {
  const registry::problem p = describe<T>(a_layout, b_layout, c_layout);
  registry::run_admitted(p, options, {matrix_operand<T>("A", a, a_layout), matrix_operand<T>("B", b, b_layout)},
                         {matrix_operand<T>("C", c, c_layout)});
}

#define TILEWISE_INSTANTIATE(T)                                                                                     \
  template void matmul<T>(std::span<const T>, matrix_layout, std::span<const T>, matrix_layout, std::span<T>,       \
                          matrix_layout, const matmul_options&);                                                    \
  template void matmul<T>(const array<T>&, matrix_layout, const array<T>&, matrix_layout, array<T>&, matrix_layout, \
                          const matmul_options&);
TILEWISE_FOR_EACH_TYPE(TILEWISE_INSTANTIATE)

}  // namespace tilewise
