// The only file that rejects a polynomial product: checks, chooses, runs, and sees to it that integers are exact.
#include <tilewise/polymul.hpp>

#include "polymul/polymul_overflow.hpp"
#include "polymul/polymul_problem.hpp"
#include "registry/call.hpp"

#include <tilewise/reduce.hpp>

namespace tilewise {

namespace {

using impl::polymul::sizes;
using registry::aliasing;

template <class T>
registry::problem describe(std::uint64_t n, std::uint64_t m, std::uint64_t product,
                           const std::optional<std::uint64_t>& modulus) {
  registry::problem p{.what = &impl::polymul::polymul_algorithm(), .type = dtype_of<T>, .shape = {n, m}};
  if (modulus) impl::polymul::set_modulus(p, *modulus);
  registry::check(p);
  if (product != sizes(p).product())
    throw error(errc::invalid_argument, "the factors have " + std::to_string(n) + " and " + std::to_string(m) +
                                            " coefficients, and the output has room for " + std::to_string(product) +
                                            "; the product has " + std::to_string(sizes(p).product()));
  return p;
}

registry::wishes wishes_of(const polymul_options& options) { return {options.variant, options.tuning}; }

template <class T>
std::uint64_t largest_magnitude(const array<T>& a) {
  const std::array<T, 2> ends{reduce(a, {.operation = op::min}), reduce(a, {.operation = op::max})};
  return impl::polymul::largest_magnitude(ends.data(), ends.size());
}

}  // namespace

template <coefficient T>
void polymul(std::span<const T> a, std::span<const T> b, std::span<product_of<T>> c, const polymul_options& options) {
  const registry::problem p = describe<T>(a.size(), b.size(), c.size(), options.modulus);
  registry::refuse_overlap(aliasing::forbidden, {{"a", a}, {"b", b}}, {{"c", c}});
  const auto multiply_to = [&](product_of<T>* to) {
    registry::call_on_host(p, options.device, wishes_of(options), {a.data(), b.data()}, {to});
  };
  if constexpr (std::is_integral_v<T>) {
    using impl::polymul::largest_magnitude;
    if (!options.modulus && !impl::polymul::bound_decides(largest_magnitude(a.data(), a.size()),
                                                          largest_magnitude(b.data(), b.size()), sizes(p).shorter())) {
      std::vector<std::int64_t> unproven(c.size());
      multiply_to(unproven.data());
      const device on = options.device ? *options.device : open("cpu");
      impl::polymul::require_exact(p, a.data(), b.data(), unproven.data(), on.implementation());
      std::copy(unproven.begin(), unproven.end(), c.begin());
      return;
    }
  }
  multiply_to(c.data());
}

template <coefficient T>
void polymul(const array<T>& a, const array<T>& b, array<product_of<T>>& c, const polymul_options& options) {
  const registry::problem p = describe<T>(a.size(), b.size(), c.size(), options.modulus);
  registry::refuse_overlap(aliasing::forbidden, {{"a", a}, {"b", b}}, {{"c", c}});
  registry::call_on_arrays(p, wishes_of(options), {{"a", a}, {"b", b}}, {{"c", c}});
  if constexpr (std::is_integral_v<T>)
    if (!options.modulus && c.size() != 0 &&
        !impl::polymul::bound_decides(largest_magnitude(a), largest_magnitude(b), sizes(p).shorter()))
      impl::polymul::require_exact(p, a.download().data(), b.download().data(), c.download().data(),
                                   c.device().implementation());
}

#define TILEWISE_INSTANTIATE(T)                                                                                       \
  template void polymul<T>(std::span<const T>, std::span<const T>, std::span<product_of<T>>, const polymul_options&); \
  template void polymul<T>(const array<T>&, const array<T>&, array<product_of<T>>&, const polymul_options&);
TILEWISE_INSTANTIATE(std::int32_t)
TILEWISE_INSTANTIATE(std::int64_t)
TILEWISE_INSTANTIATE(float)
TILEWISE_INSTANTIATE(double)

}  // namespace tilewise
