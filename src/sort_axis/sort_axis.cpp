// SPDX-License-Identifier: Apache-2.0
// The public functions of sort_axis: check what only their arguments show, describe the problem, hand it to
// registry/call.
#include <tilewise/sort_axis.hpp>

#include "base/instantiate.hpp"
#include "registry/call.hpp"
#include "sort_axis/problem.hpp"

namespace tilewise {

namespace {

template <class T, class In, class Out>
void sort_each(const In& in, const matrix_layout& from, axis which, Out& out, const matrix_layout& to,
               const sort_options& options) {
  if (from.rows != to.rows || from.columns != to.columns)
    throw error(errc::invalid_argument, "A is " + registry::shape_text(from.rows, from.columns) + " and the output " +
                                            registry::shape_text(to.rows, to.columns) +
                                            "; a sort has as many results as elements");
  registry::problem p{
      .what = &impl::sort_axis::sort_axis_algorithm(), .type = dtype_of<T>, .shape = {from.rows, from.columns}};
  if (!registry::is_packed(from) || !registry::is_packed(to))
    p.shape = {from.rows, from.columns, from.stride, to.stride};
  p.setting = {static_cast<std::uint8_t>(options.order), static_cast<std::uint8_t>(which)};
  registry::admit(p, {});
  const registry::call_operand a = registry::matrix_operand<T>("A", in, from);
  const registry::call_operand y = registry::matrix_operand<T>("the output", out, to);
  registry::run_admitted(p, options, {a}, {y});
}

}  // namespace

template <scalar T>
void sort_axis(std::span<const T> a, matrix_layout of_a, axis which, std::span<T> out, matrix_layout of_out,
               const sort_options& options) {
  sort_each<T>(a, of_a, which, out, of_out, options);
}
template <scalar T>
void sort_axis(const array<T>& a, matrix_layout of_a, axis which, array<T>& out, matrix_layout of_out,
               const sort_options& options) {
  sort_each<T>(a, of_a, which, out, of_out, options);
}

#define TILEWISE_INSTANTIATE(T)                                                                    \
  template void sort_axis<T>(std::span<const T>, matrix_layout, axis, std::span<T>, matrix_layout, \
                             const sort_options&);                                                 \
  template void sort_axis<T>(const array<T>&, matrix_layout, axis, array<T>&, matrix_layout, const sort_options&);
TILEWISE_FOR_EACH_TYPE(TILEWISE_INSTANTIATE)

}  // namespace tilewise
