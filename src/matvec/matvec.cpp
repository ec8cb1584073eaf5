// SPDX-License-Identifier: Apache-2.0
// The public functions of matvec: check what only their arguments show, describe the problem, hand it to registry/call.
#include <tilewise/matvec.hpp>

#include "base/instantiate.hpp"
#include "matvec/cpu/kernels.hpp"
#include "matvec/problem.hpp"
#include "order/operators.hpp"
#include "registry/call.hpp"
#include "registry/matrix_shape.hpp"

namespace tilewise {

namespace {

template <class T>
registry::problem describe(matrix_layout a, std::uint64_t x, std::uint64_t y) {
  const auto shape = [&] { return registry::shape_text(a.rows, a.columns); };
  if (x != a.columns)
    throw error(errc::invalid_argument, "A is " + shape() + " and x has " + std::to_string(x) +
                                            " elements; it must have one for each column of A");
  if (y != a.rows)
    throw error(errc::invalid_argument, "A is " + shape() + " and y has " + std::to_string(y) +
                                            " elements; it must have one for each row of A");
  registry::problem p{.what = &impl::matvec::matvec_algorithm(), .type = dtype_of<T>, .shape = {a.rows, a.columns}};
  if (!registry::is_packed(a)) p.shape = {a.rows, a.columns, a.stride};
  registry::admit(p, {});
  return p;
}

void require_one_size(std::uint64_t x, std::uint64_t y) {
  if (x != y)
    throw error(errc::invalid_argument, "x has " + std::to_string(x) + " elements and y has " + std::to_string(y) +
                                            "; a dot product needs equally many in both");
}

/// Up to so many products are computed on the calling thread, without a device, problem or workspace.
constexpr std::uint64_t few_products = 4096;

/// 0 < n <= few_products. The same bits as every variant.
template <class T>
T dot_few(const T* x, const T* y, std::uint64_t n) {
  using bits = order::wrapping_t<T>;
  static const auto dot = impl::matvec::kernels_for<bits>(backend::cpu::best_instruction_set()).dot;
  return static_cast<T>(dot(reinterpret_cast<const bits*>(x), reinterpret_cast<const bits*>(y), n));
}

/// Not inlined, so that the shortcut does not pay for its stack frame.
template <class T>
[[gnu::noinline]] T dot_by_call(std::span<const T> x, std::span<const T> y, const matvec_options& options) {
  const registry::problem p = describe<T>({1, x.size()}, y.size(), 1);
  T result;
  registry::run_admitted(p, options, {{"x", x}, {"y", y}}, {{"the result", std::span(&result, 1)}});
  return result;
}

}  // namespace

template <scalar T>
void matvec(std::span<const T> a, matrix_layout layout, std::span<const T> x, std::span<T> y,
            const matvec_options& options) {
  const registry::problem p = describe<T>(layout, x.size(), y.size());
  registry::run_admitted(p, options, {registry::matrix_operand<T>("A", a, layout), {"x", x}}, {{"y", y}});
}

template <scalar T>
void matvec(const array<T>& a, matrix_layout layout, const array<T>& x, array<T>& y, const matvec_options& options) {
  const registry::problem p = describe<T>(layout, x.size(), y.size());
  registry::run_admitted(p, options, {registry::matrix_operand<T>("A", a, layout), {"x", x}}, {{"y", y}});
}

template <scalar T>
T dot(std::span<const T> x, std::span<const T> y, const matvec_options& options) {
  require_one_size(x.size(), y.size());
  if (registry::takes_shortcut(x, few_products, options) && y.data() != nullptr)
    return dot_few(x.data(), y.data(), x.size());
  return dot_by_call(x, y, options);
}

template <scalar T>
T dot(const array<T>& x, const array<T>& y, const matvec_options& options) {
  require_one_size(x.size(), y.size());
  const registry::problem p = describe<T>({1, x.size()}, y.size(), 1);
  return registry::value_of_call<T>(p, options, x.device(), {{"x", x}, {"y", y}});
}

#define TILEWISE_INSTANTIATE(T)                                                                                        \
  template void matvec<T>(std::span<const T>, matrix_layout, std::span<const T>, std::span<T>, const matvec_options&); \
  template void matvec<T>(const array<T>&, matrix_layout, const array<T>&, array<T>&, const matvec_options&);          \
  template T dot<T>(std::span<const T>, std::span<const T>, const matvec_options&);                                    \
  template T dot<T>(const array<T>&, const array<T>&, const matvec_options&);
TILEWISE_FOR_EACH_TYPE(TILEWISE_INSTANTIATE)

}  // namespace tilewise
