// SPDX-License-Identifier: Apache-2.0
// How a call of matvec is described. A dot product is that of a matrix with one row; of few elements, it is computed at
// once.
#include <tilewise/matvec.hpp>

#include "base/instantiate.hpp"
#include "call/call.hpp"
#include "matvec/cpu/kernels.hpp"
#include "matvec/problem.hpp"
#include "order/operators.hpp"

namespace tilewise {

namespace impl::matvec {

registry::problem describe(const detail::request& r) {
  const matrix_layout& a = r.in[0].of;
  const std::uint64_t x = r.in[1].size, y = r.out[0].size;
  const auto shape = [&] { return registry::shape_text(a.rows, a.columns); };
  if (x != a.columns)
    throw error(errc::invalid_argument, "A is " + shape() + " and x has " + std::to_string(x) +
                                            " elements; it must have one for each column of A");
  if (y != a.rows)
    throw error(errc::invalid_argument, "A is " + shape() + " and y has " + std::to_string(y) +
                                            " elements; it must have one for each row of A");
  if (registry::is_packed(a)) return call::described(matvec_algorithm(), r, {a.rows, a.columns});
  return call::described(matvec_algorithm(), r, {a.rows, a.columns, a.stride});
}

}  // namespace impl::matvec

template <class T>
T detail::dot_few(const T* x, const T* y, std::uint64_t count) {
  using bits = order::wrapping_t<T>;
  static const auto dot = impl::matvec::kernels_for<bits>(backend::cpu::best_instruction_set()).dot;
  return static_cast<T>(dot(reinterpret_cast<const bits*>(x), reinterpret_cast<const bits*>(y), count));
}

#define TILEWISE_INSTANTIATE(T) template T detail::dot_few<T>(const T*, const T*, std::uint64_t);
TILEWISE_FOR_EACH_TYPE(TILEWISE_INSTANTIATE)

}  // namespace tilewise
