// Products of polynomials.
#pragma once

#include <tilewise/array.hpp>
#include <tilewise/error.hpp>

#include <optional>
#include <ranges>

namespace tilewise {

/// A type of coefficients: integers multiply exactly, to 64 bits; floats to their own type.
template <class T>
concept coefficient =
    std::same_as<T, std::int32_t> || std::same_as<T, std::int64_t> || std::same_as<T, float> || std::same_as<T, double>;

/// The type of a product's coefficients.
template <coefficient T>
using product_of = std::conditional_t<std::is_integral_v<T>, std::int64_t, T>;

struct polymul_options {
  std::optional<std::uint64_t> modulus = {};    ///< of integers, 1 to 2^63 - 1: coefficients in [0, modulus)
  std::optional<tilewise::device> device = {};  ///< default: where the data is; for host data the CPU
  std::string_view variant = {};                ///< force one, such as "karatsuba"; default: chosen
  std::string_view tuning = {};                 ///< never changes a bit
};

/// c[k] is the sum of a[i] * b[k - i]. Coefficients stand in ascending order of their powers; c has a.size() + b.size()
/// - 1 of them, or none if a or b has none, and overlaps neither. Floats: from +0, fma(a[i], b[k - i], c[k]) for
/// ascending i. Integers: exact. Throws `overflow`, with c untouched, if a coefficient does not fit 64 bits and no
/// modulus is given; `invalid_argument`, before anything is touched, if sizes or the modulus make no sense.
template <coefficient T>
void polymul(std::span<const T> a, std::span<const T> b, std::span<product_of<T>> c,
             const polymul_options& options = {});

/// The same on a device. Asynchronous in its queue for floats and with a modulus; else the device is waited for, and an
/// `overflow` may leave c with values that are not the product's.
template <coefficient T>
void polymul(const array<T>& a, const array<T>& b, array<product_of<T>>& c, const polymul_options& options = {});

/// Any contiguous ranges of host data, such as std::vector.
template <std::ranges::contiguous_range A, std::ranges::contiguous_range B>
auto polymul(const A& a, const B& b, const polymul_options& options = {}) {
  using T = std::ranges::range_value_t<A>;
  const std::span<const T> first(a), second(b);
  std::vector<product_of<T>> c(first.empty() || second.empty() ? 0 : first.size() + second.size() - 1);
  polymul<T>(first, second, std::span<product_of<T>>(c), options);
  return c;
}

}  // namespace tilewise
