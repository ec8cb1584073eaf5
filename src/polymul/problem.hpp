// SPDX-License-Identifier: Apache-2.0
// How a polynomial product is written as a registry::problem: shape {n, m}, the numbers of coefficients. Coefficients
// are in ascending order of their powers. A range of a product has the shape {n, m, first, count}; only the variants by
// the definition compute it. Integers have two kinds of product. With modulus=given, results are in [0, modulus).
// With modulus=none, variants may assume that every coefficient fits 64 bits: the proof in overflow.cpp refuses others.
#pragma once

#include "registry/algorithm.hpp"

#include <tilewise/polymul.hpp>

#include <algorithm>
#include <array>
#include <bit>

namespace tilewise::impl::polymul {

const registry::algorithm& polymul_algorithm();

/// The descriptor's proof that a product of integers without a modulus fits 64 bits. If the largest coefficients of the
/// factors do not show this, the product is computed again modulo several numbers. Their product exceeds any possible
/// error, so a wrong coefficient is always found. Throws `overflow`, naming the first coefficient that does not fit.
extern const registry::proof no_overflow;

inline constexpr std::array coefficient_types{dtype::i32, dtype::i64, dtype::f32, dtype::f64};
inline constexpr std::array integer_types{dtype::i32, dtype::i64};

/// A modulus must be below this, so that the sum of two residues fits 64 bits.
inline constexpr std::uint64_t modulus_end = std::uint64_t{1} << 63;

__extension__ using wide_integer = unsigned __int128;

inline bool is_range(const registry::problem& p) { return p.shape.rank == 4; }

/// Why a fast method cannot compute a range.
inline constexpr std::string_view whole_only = "it computes whole products only";

/// The sizes by their usual names.
struct sizes {
  std::uint64_t n, m;
  std::uint64_t first, count;  // the coefficients of the product to compute: [first, first + count)

  explicit sizes(const registry::problem& p)
      : n(p.shape[0]),
        m(p.shape[1]),
        first(is_range(p) ? p.shape[2] : 0),
        count(is_range(p) ? p.shape[3] : product()) {}
  std::uint64_t product() const { return n == 0 || m == 0 ? 0 : n + m - 1; }
  std::uint64_t shorter() const { return std::min(n, m); }

  /// How many products a[i] b[j] the coefficients below k need in all. From the first coefficient on each needs one
  /// more than the one before, up to the length of the shorter factor. At the other end each needs one less.
  wide_integer work_below(std::uint64_t k) const {
    const auto triangle = [](wide_integer rows) { return rows * (rows + 1) / 2; };
    const std::uint64_t longer = std::max(n, m);
    if (k <= shorter()) return triangle(k);
    if (k <= longer) return triangle(shorter()) + wide_integer{k - shorter()} * shorter();
    return wide_integer{n} * m - triangle(product() - k);
  }
};

/// The modulus; 0 if none is given.
inline std::uint64_t modulus_of(const registry::problem& p) {
  return p.setting[0] == 0 ? 0 : p.number[0].as<std::uint64_t>();
}

inline void set_modulus(registry::problem& p, std::uint64_t modulus) {
  p.setting[0] = 1;
  p.number[0] = {dtype::i64, modulus};
}

/// The type of the product's coefficients; integers multiply to 64 bits.
constexpr dtype product_type(dtype coefficients) { return is_float(coefficients) ? coefficients : dtype::i64; }

/// Calls `f` with a value of the coefficients' C++ type.
template <class F>
void with_coefficients(dtype type, F&& f) {
  switch (type) {
    case dtype::i32: return f(std::int32_t{});
    case dtype::i64: return f(std::int64_t{});
    case dtype::f32: return f(float{});
    default: return f(double{});
  }
}

/// Converts `count` coefficients to another type, and appends zeros up to `room` elements.
template <class T, class Lane>
void widen(const T* from, std::uint64_t count, Lane* to, std::uint64_t room) {
  for (std::uint64_t i = 0; i < count; ++i) to[i] = static_cast<Lane>(from[i]);
  std::fill(to + count, to + room, Lane(0));
}

/// The residue in [0, modulus).
template <class T>
constexpr std::uint64_t residue(T value, std::uint64_t modulus) {
  const std::int64_t rest = static_cast<std::int64_t>(value) % static_cast<std::int64_t>(modulus);
  return static_cast<std::uint64_t>(rest < 0 ? rest + static_cast<std::int64_t>(modulus) : rest);
}

template <class T>
std::uint64_t largest_magnitude(const T* values, std::uint64_t count) {
  T least = 0, most = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    least = std::min(least, values[i]);
    most = std::max(most, values[i]);
  }
  return std::max(0 - static_cast<std::uint64_t>(std::int64_t{least}), static_cast<std::uint64_t>(most));
}

/// A bound for the coefficients of a product, each a sum of at most `shorter` products: their magnitude is below 2 to
/// the power of the result.
inline unsigned product_bits(std::uint64_t largest_a, std::uint64_t largest_b, std::uint64_t shorter) {
  return static_cast<unsigned>(std::bit_width(largest_a) + std::bit_width(largest_b) + std::bit_width(shorter));
}

}  // namespace tilewise::impl::polymul
