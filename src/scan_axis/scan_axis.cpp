// SPDX-License-Identifier: Apache-2.0
// The public functions of scan_axis: check what only their arguments show, describe the problem, hand it to
// registry/call.
#include <tilewise/scan_axis.hpp>

#include "base/instantiate.hpp"
#include "registry/call.hpp"
#include "scan_axis/problem.hpp"

namespace tilewise {

namespace {

enum class kind : std::uint8_t { inclusive, exclusive };

template <class T>
registry::problem describe(const matrix_layout& from, const matrix_layout& to, axis which, kind of, const T* init,
                           op operation) {
  if (from.rows != to.rows || from.columns != to.columns)
    throw error(errc::invalid_argument, "A is " + registry::shape_text(from.rows, from.columns) + " and the output " +
                                            registry::shape_text(to.rows, to.columns) +
                                            "; a scan has as many results as elements");
  registry::problem p = impl::scan::problem_of(0, operation, of == kind::exclusive, init, false);
  p.what = &impl::scan_axis::scan_axis_algorithm();
  p.setting[impl::scan_axis::axis_setting] = static_cast<std::uint8_t>(which);
  p.shape = {from.rows, from.columns};
  if (!registry::is_packed(from) || !registry::is_packed(to))
    p.shape = {from.rows, from.columns, from.stride, to.stride};
  registry::admit(p, {});
  return p;
}

template <class T, class In, class Out>
void scan_each(const In& in, const matrix_layout& from, axis which, Out& out, const matrix_layout& to, kind of,
               const T* init, const scan_options& options) {
  const registry::problem p = describe(from, to, which, of, init, options.operation);
  const registry::call_operand a = registry::matrix_operand<T>("A", in, from);
  const registry::call_operand y = registry::matrix_operand<T>("the output", out, to);
  registry::run_admitted(p, options, {a}, {y});
}

}  // namespace

template <scalar T>
void inclusive_scan_axis(std::span<const T> a, matrix_layout of_a, axis which, std::span<T> out, matrix_layout of_out,
                         const scan_options& options) {
  scan_each<T>(a, of_a, which, out, of_out, kind::inclusive, nullptr, options);
}
template <scalar T>
void inclusive_scan_axis(std::span<const T> a, matrix_layout of_a, axis which, std::span<T> out, matrix_layout of_out,
                         std::type_identity_t<T> init, const scan_options& options) {
  scan_each<T>(a, of_a, which, out, of_out, kind::inclusive, &init, options);
}
template <scalar T>
void inclusive_scan_axis(const array<T>& a, matrix_layout of_a, axis which, array<T>& out, matrix_layout of_out,
                         const scan_options& options) {
  scan_each<T>(a, of_a, which, out, of_out, kind::inclusive, nullptr, options);
}
template <scalar T>
void inclusive_scan_axis(const array<T>& a, matrix_layout of_a, axis which, array<T>& out, matrix_layout of_out,
                         std::type_identity_t<T> init, const scan_options& options) {
  scan_each<T>(a, of_a, which, out, of_out, kind::inclusive, &init, options);
}
template <scalar T>
void exclusive_scan_axis(std::span<const T> a, matrix_layout of_a, axis which, std::span<T> out, matrix_layout of_out,
                         const scan_options& options) {
  scan_each<T>(a, of_a, which, out, of_out, kind::exclusive, nullptr, options);
}
template <scalar T>
void exclusive_scan_axis(std::span<const T> a, matrix_layout of_a, axis which, std::span<T> out, matrix_layout of_out,
                         std::type_identity_t<T> init, const scan_options& options) {
  scan_each<T>(a, of_a, which, out, of_out, kind::exclusive, &init, options);
}
template <scalar T>
void exclusive_scan_axis(const array<T>& a, matrix_layout of_a, axis which, array<T>& out, matrix_layout of_out,
                         const scan_options& options) {
  scan_each<T>(a, of_a, which, out, of_out, kind::exclusive, nullptr, options);
}
template <scalar T>
void exclusive_scan_axis(const array<T>& a, matrix_layout of_a, axis which, array<T>& out, matrix_layout of_out,
                         std::type_identity_t<T> init, const scan_options& options) {
  scan_each<T>(a, of_a, which, out, of_out, kind::exclusive, &init, options);
}

#define TILEWISE_INSTANTIATE(T)                                                                                 \
  template void inclusive_scan_axis<T>(std::span<const T>, matrix_layout, axis, std::span<T>, matrix_layout,    \
                                       const scan_options&);                                                    \
  template void inclusive_scan_axis<T>(std::span<const T>, matrix_layout, axis, std::span<T>, matrix_layout, T, \
                                       const scan_options&);                                                    \
  template void inclusive_scan_axis<T>(const array<T>&, matrix_layout, axis, array<T>&, matrix_layout,          \
                                       const scan_options&);                                                    \
  template void inclusive_scan_axis<T>(const array<T>&, matrix_layout, axis, array<T>&, matrix_layout, T,       \
                                       const scan_options&);                                                    \
  template void exclusive_scan_axis<T>(std::span<const T>, matrix_layout, axis, std::span<T>, matrix_layout,    \
                                       const scan_options&);                                                    \
  template void exclusive_scan_axis<T>(std::span<const T>, matrix_layout, axis, std::span<T>, matrix_layout, T, \
                                       const scan_options&);                                                    \
  template void exclusive_scan_axis<T>(const array<T>&, matrix_layout, axis, array<T>&, matrix_layout,          \
                                       const scan_options&);                                                    \
  template void exclusive_scan_axis<T>(const array<T>&, matrix_layout, axis, array<T>&, matrix_layout, T,       \
                                       const scan_options&);
TILEWISE_FOR_EACH_TYPE(TILEWISE_INSTANTIATE)

}  // namespace tilewise
