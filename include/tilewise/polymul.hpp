// SPDX-License-Identifier: Apache-2.0
// Products of polynomials.
#pragma once

#include <tilewise/array.hpp>
#include <tilewise/error.hpp>
#include <tilewise/export.hpp>

#include <optional>

namespace tilewise {

/// The type of a coefficient. Products of integers are exact 64-bit integers; products of floats have the same type.
template <class T>
concept coefficient =
    std::same_as<T, std::int32_t> || std::same_as<T, std::int64_t> || std::same_as<T, float> || std::same_as<T, double>;

/// Used only in this header.
namespace detail {
/// A named type, since compilers mangle a condition in a function's signature differently.
template <coefficient T>
struct product {
  using type = std::conditional_t<std::is_integral_v<T>, std::int64_t, T>;  ///< of a coefficient
};
}  // namespace detail

/// The type of a product's coefficients: std::int64_t for integers, T for floats.
template <coefficient T>
using product_of = typename detail::product<T>::type;

/// The number of coefficients of the product of polynomials with n and m coefficients: n + m - 1, or 0 if n or m is 0.
constexpr std::uint64_t product_size(std::uint64_t n, std::uint64_t m) { return n == 0 || m == 0 ? 0 : n + m - 1; }

/// Where and how `polymul` computes.
struct polymul_options {
  std::optional<std::uint64_t> modulus = {};    ///< for integers, 1 to 2^63 - 1: coefficients in [0, modulus)
  std::optional<tilewise::device> device = {};  ///< for host data (default: the CPU); arrays use their own device
  std::string_view variant = {};                ///< force one, such as "karatsuba"; default: chosen
  std::string_view tuning = {};                 ///< never changes a bit
};

/// c[k] is the sum of a[i] * b[k - i]. Coefficients are in ascending order of their powers. c has
/// product_size(a.size(), b.size()) elements and must not overlap a or b. Floats: c[k] = +0; for ascending i: c[k] =
/// fma(a[i], b[k - i], c[k]). Integers: exact.
/// Throws `overflow`, with c unchanged, if no modulus is given and a coefficient does not fit 64 bits. Throws
/// `invalid_argument`, before it writes anything, if the sizes or the modulus are invalid.
template <coefficient T>
TILEWISE_API void polymul(std::span<const T> a, std::span<const T> b, std::span<product_of<T>> c,
                          const polymul_options& options = {});

/// The same on a device: asynchronous in its queue for floats and with a modulus. Integers without a modulus wait for
/// the device, and if they throw `overflow`, the contents of c are unspecified.
template <coefficient T>
TILEWISE_API void polymul(const array<T>& a, const array<T>& b, array<product_of<T>>& c,
                          const polymul_options& options = {});

template <host_range A, host_range<element_of<A>> B, host_output<product_of<element_of<A>>> C>
void polymul(const A& a, const B& b, C&& c, const polymul_options& options = {}) {
  tilewise::polymul(as_input(a), as_input(b), as_output(c), options);
}
template <host_range A, host_range<element_of<A>> B>
std::vector<product_of<element_of<A>>> polymul(const A& a, const B& b, const polymul_options& options = {}) {
  auto c = host_result<product_of<element_of<A>>>(product_size(std::ranges::size(a), std::ranges::size(b)));
  tilewise::polymul(as_input(a), as_input(b), as_output(c), options);
  return c;
}
template <coefficient T>
array<product_of<T>> polymul(const array<T>& a, const array<T>& b, const polymul_options& options = {}) {
  auto c = a.device().template allocate<product_of<T>>(product_size(a.size(), b.size()));
  tilewise::polymul(a, b, c, options);
  return c;
}

}  // namespace tilewise
