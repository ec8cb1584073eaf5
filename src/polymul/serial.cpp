// SPDX-License-Identifier: Apache-2.0
// What:   the polynomial product by its definition; never optimised.
// Order:  coefficient k is one chain: from +0, fma(a[i], b[k - i], chain) for ascending i; exact for integers.
// Shape:  one chain at a time on the calling thread.
// Limits: none.
// Twins:  every other file of the folder.
#include "order/operators.hpp"
#include "polymul/problem.hpp"
#include "registry/variant.hpp"

#include <cmath>

namespace tilewise::impl::polymul {

namespace {

/// The product modulo 2^64, which is the exact product if it fits.
struct wrapping_chain {
  std::uint64_t sum = 0;

  template <class T>
  void add(T a, T b) {
    sum += static_cast<std::uint64_t>(std::int64_t{a}) * static_cast<std::uint64_t>(std::int64_t{b});
  }
  std::int64_t value() const { return static_cast<std::int64_t>(sum); }
};

struct modular_chain {
  std::uint64_t modulus, sum = 0;

  template <class T>
  void add(T a, T b) {
    sum = static_cast<std::uint64_t>((wide_integer{residue(a, modulus)} * residue(b, modulus) + sum) % modulus);
  }
  std::int64_t value() const { return static_cast<std::int64_t>(sum); }
};

template <class T>
struct float_chain {
  T sum = T(0);

  void add(T a, T b) { sum = std::fma(a, b, sum); }
  T value() const { return order::canonical(sum); }
};

template <class T, class Chain>
void multiply(const registry::problem& p, const registry::bindings& where, const Chain& empty) {
  const sizes s(p);
  const T* const a = where.in[0].as<const T>();
  const T* const b = where.in[1].as<const T>();
  for (std::uint64_t k = s.first; k < s.first + s.count; ++k) {
    Chain chain = empty;
    for (std::uint64_t i = k < s.m ? 0 : k - s.m + 1; i <= std::min(k, s.n - 1); ++i) chain.add(a[i], b[k - i]);
    where.out[0].as<product_of<T>>()[k - s.first] = chain.value();
  }
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue&) {
  with_coefficients(p.type, [&]<class T>(T) {
    if constexpr (std::is_floating_point_v<T>)
      multiply<T>(p, where, float_chain<T>{});
    else if (modulus_of(p) != 0)
      multiply<T>(p, where, modular_chain{modulus_of(p)});
    else
      multiply<T>(p, where, wrapping_chain{});
  });
}

}  // namespace

std::vector<registry::variant> polymul_serial_variants() {
  return {{.algorithm = "polymul",
           .backend = "serial",
           .name = "",
           .types = coefficient_types,
           .source = "the definition",
           .run = run}};
}

}  // namespace tilewise::impl::polymul
