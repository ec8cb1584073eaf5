// SPDX-License-Identifier: Apache-2.0
// The public functions of reduce_axis: check what only their arguments show, describe the problem, hand it to
// registry/call.
#include <tilewise/reduce_axis.hpp>

#include "base/instantiate.hpp"
#include "reduce_axis/problem.hpp"
#include "registry/call.hpp"
#include "registry/matrix_shape.hpp"

namespace tilewise {

namespace {

template <class T, class In, class Out>
void reduce_each(const In& a, const matrix_layout& l, axis which, Out& values, const T* init,
                 const reduce_options& options) {
  registry::problem p{
      .what = &impl::reduce_axis::reduce_axis_algorithm(), .type = dtype_of<T>, .shape = {l.rows, l.columns}};
  if (!registry::is_packed(l)) p.shape = {l.rows, l.columns, l.stride};
  p.setting = {static_cast<std::uint8_t>(options.operation), static_cast<std::uint8_t>(init != nullptr),
               static_cast<std::uint8_t>(which)};
  if (init != nullptr) p.number[0] = base::scalar_value::of(*init);
  registry::admit(p, {});
  const registry::call_operand matrix = registry::matrix_operand<T>("A", a, l);
  if (values.size() != lines_of(l, which))
    throw error(errc::invalid_argument, "A is " + registry::shape_text(l.rows, l.columns) + " and there is room for " +
                                            std::to_string(values.size()) + " values; there is one for each of its " +
                                            (which == axis::rows ? "rows" : "columns"));
  registry::run_admitted(p, options, {matrix}, {{"the values", values}});
}

}  // namespace

template <scalar T>
void reduce_axis(std::span<const T> a, matrix_layout layout, axis which, std::span<T> values,
                 const reduce_options& options) {
  reduce_each<T>(a, layout, which, values, nullptr, options);
}
template <scalar T>
void reduce_axis(std::span<const T> a, matrix_layout layout, axis which, std::span<T> values,
                 std::type_identity_t<T> init, const reduce_options& options) {
  reduce_each<T>(a, layout, which, values, &init, options);
}
template <scalar T>
void reduce_axis(const array<T>& a, matrix_layout layout, axis which, array<T>& values, const reduce_options& options) {
  reduce_each<T>(a, layout, which, values, nullptr, options);
}
template <scalar T>
void reduce_axis(const array<T>& a, matrix_layout layout, axis which, array<T>& values, std::type_identity_t<T> init,
                 const reduce_options& options) {
  reduce_each<T>(a, layout, which, values, &init, options);
}

#define TILEWISE_INSTANTIATE(T)                                                                                  \
  template void reduce_axis<T>(std::span<const T>, matrix_layout, axis, std::span<T>, const reduce_options&);    \
  template void reduce_axis<T>(std::span<const T>, matrix_layout, axis, std::span<T>, T, const reduce_options&); \
  template void reduce_axis<T>(const array<T>&, matrix_layout, axis, array<T>&, const reduce_options&);          \
  template void reduce_axis<T>(const array<T>&, matrix_layout, axis, array<T>&, T, const reduce_options&);
TILEWISE_FOR_EACH_TYPE(TILEWISE_INSTANTIATE)

}  // namespace tilewise
