// SPDX-License-Identifier: Apache-2.0
// The public functions of polymul: check what only their arguments show, describe the problem, call registry/call.
#include <tilewise/polymul.hpp>

#include "polymul/problem.hpp"
#include "registry/call.hpp"

namespace tilewise {

namespace {

using impl::polymul::sizes;

template <class T>
registry::problem describe(std::uint64_t n, std::uint64_t m, std::uint64_t product,
                           const std::optional<std::uint64_t>& modulus) {
  registry::problem p{.what = &impl::polymul::polymul_algorithm(), .type = dtype_of<T>, .shape = {n, m}};
  if (modulus) impl::polymul::set_modulus(p, *modulus);
  registry::admit(p, {});
  if (product != sizes(p).product())
    throw error(errc::invalid_argument, "the factors have " + std::to_string(n) + " and " + std::to_string(m) +
                                            " coefficients, and the output has room for " + std::to_string(product) +
                                            "; the product has " + std::to_string(sizes(p).product()));
  return p;
}

}  // namespace

template <coefficient T>
void polymul(std::span<const T> a, std::span<const T> b, std::span<product_of<T>> c, const polymul_options& options) {
  const registry::problem p = describe<T>(a.size(), b.size(), c.size(), options.modulus);
  registry::run_admitted(p, options, {{"a", a}, {"b", b}}, {{"c", c}});
}

template <coefficient T>
void polymul(const array<T>& a, const array<T>& b, array<product_of<T>>& c, const polymul_options& options) {
  const registry::problem p = describe<T>(a.size(), b.size(), c.size(), options.modulus);
  registry::run_admitted(p, options, {{"a", a}, {"b", b}}, {{"c", c}});
}

#define TILEWISE_INSTANTIATE(T)                                                                                       \
  template void polymul<T>(std::span<const T>, std::span<const T>, std::span<product_of<T>>, const polymul_options&); \
  template void polymul<T>(const array<T>&, const array<T>&, array<product_of<T>>&, const polymul_options&);
TILEWISE_INSTANTIATE(std::int32_t)
TILEWISE_INSTANTIATE(std::int64_t)
TILEWISE_INSTANTIATE(float)
TILEWISE_INSTANTIATE(double)

}  // namespace tilewise
