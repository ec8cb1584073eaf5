// SPDX-License-Identifier: Apache-2.0
// Products of polynomials.
#pragma once

#include <tilewise/call.hpp>

namespace tilewise {

/// The type of a coefficient. Products of integers are exact 64-bit integers; products of floats have the same type.
template <class T>
concept coefficient = element<T> && std::is_signed_v<T>;

/// The type of a product's coefficients: std::int64_t for integers, T for floats.
template <coefficient T>
using product_of = std::conditional_t<std::is_integral_v<T>, std::int64_t, T>;

/// The number of coefficients of the product of polynomials with n and m coefficients: n + m - 1, or 0 if n or m is 0.
constexpr std::uint64_t product_size(std::uint64_t n, std::uint64_t m) { return n == 0 || m == 0 ? 0 : n + m - 1; }

/// Where and how `polymul` computes.
struct polymul_options {
  std::optional<std::uint64_t> modulus = {};    ///< for integers, 1 to 2^63 - 1: coefficients in [0, modulus)
  std::optional<tilewise::device> device = {};  ///< for host data (default: the CPU); arrays use their own device
  std::string_view variant = {};                ///< force one, such as "karatsuba"; default: chosen
  std::string_view tuning = {};                 ///< never changes a bit
};

namespace detail {

inline void polymul(const argument& a, const argument& b, const argument& c, const polymul_options& options) {
  const argument in[]{a, b};
  const named_number numbers[]{{"modulus", options.modulus}};
  call({.algorithm = "polymul", .in = in, .out = {&c, 1}, .numbers = numbers}, options);
}

}  // namespace detail

/// c[k] is the sum of a[i] * b[k - i]. Coefficients are in ascending order of their powers. c has
/// product_size(a.size(), b.size()) elements and must not overlap a or b. Floats: c[k] = +0; for ascending i: c[k] =
/// fma(a[i], b[k - i], c[k]). Integers: exact.
/// Throws `overflow`, with c unchanged, if no modulus is given and a coefficient does not fit 64 bits. Throws
/// `invalid_argument`, before it writes anything, if the sizes or the modulus are invalid.
/// Asynchronous on a device for floats and with a modulus. Integers without a modulus wait for the device, and if they
/// throw `overflow`, the contents of the array c are unspecified.
template <plain_operand A, beside<A> B, output_beside<A, product_of<element_of<A>>> C>
void polymul(const A& a, const B& b, C&& c, const polymul_options& options = {}) {
  detail::polymul(detail::argument_for("a", a), detail::argument_for("b", b), detail::argument_for("c", c), options);
}
/// Returns c.
template <plain_operand A, beside<A> B>
requires coefficient<element_of<A>>
auto polymul(const A& a, const B& b, const polymul_options& options = {}) {
  const std::uint64_t n = detail::argument_for("a", a).size, m = detail::argument_for("b", b).size;
  auto c = detail::result_beside<product_of<element_of<A>>>(a, product_size(n, m));
  tilewise::polymul(a, b, c, options);
  return c;
}

TILEWISE_REFUSE_OTHERS(polymul)

}  // namespace tilewise
