// SPDX-License-Identifier: Apache-2.0
// Shared by the number-theoretic transforms of all GPU backends: 32-bit primes, and the constants of a product.
#pragma once

#include "polymul/problem.hpp"

#include <string>

namespace tilewise::impl::polymul {

/// A factor modulo p, and floor(factor * 2^32 / p), with which Shoup's multiplication finds the quotient. Kernels use
/// the same layout.
struct word_factor {
  std::uint32_t value, quotient;
};

inline constexpr unsigned least_words = 2, few_words = 3, most_words = 6;
inline constexpr unsigned log_most_roots = 24;

/// A prime p below 2^30 and the constants that kernels need for it.
struct word_field {
  std::uint32_t p, twice, inverse;           // p, 2 p, 1 / p modulo 2^32
  std::uint32_t minus_radix, minus_radix_2;  // -2^32 and -2^64 modulo p: added if a coefficient is negative
  std::uint32_t offset;                      // the least multiple of p that no digit exceeds
  word_factor one, radix;                    // 1 and 2^32
  word_factor inverse_of[most_words];        // 1 / q modulo p, for the prime q of each field before this one
  std::uint32_t of_bit[2][log_most_roots];   // roots of order 4, 8, 16, ..., and their inverses, in Montgomery form
};

/// All fields. A product uses as many as it needs, from the first on.
struct word_fields {
  word_field at[most_words];
};
const word_fields& all_word_fields();

/// How the residues of a coefficient are combined.
struct ntt_sums {
  word_factor scale[most_words];     // the factor that the transforms multiply by last
  std::uint64_t weight[most_words];  // weights of the digits of a coefficient, modulo 2^64 or the modulus
  std::uint64_t all;                 // the product of the primes modulo 2^64: subtracted from a negative coefficient
};

ntt_sums sums_of(unsigned log, unsigned fields, std::uint64_t modulus);

/// Two primes represent signed numbers up to this magnitude.
inline constexpr std::uint64_t most_of_least_words = std::uint64_t{1} << 56;

inline constexpr unsigned log_leaf = 3;  // blocks of 8 coefficients are multiplied by the definition
inline constexpr unsigned log_least_points = 12;

/// One product by transforms of 2^log points modulo `fields` primes. Each level reduces polynomials modulo x^2n -
/// r[k]^2 to polynomials modulo x^n - r[k] and modulo x^n + r[k], where k is the number of the block in its level. The
/// last level has blocks of 8 coefficients. r[k] is the product of the roots `of_bit` of the bits that are set in k.
struct ntt_plan {
  unsigned log, fields;
  ntt_sums sums;

  explicit ntt_plan(const registry::problem& p, unsigned log_least = log_least_points);

  constexpr std::uint64_t points() const { return std::uint64_t{1} << log; }
  constexpr std::uint64_t values() const { return fields * points(); }  // residues of one factor
};

// The kernels of all backends cut the points in the same way. One kernel takes 256 rows of a block through 8 levels,
// the other takes tiles of 4096 neighbours through up to 9. There are two tables of 4096 roots per field and direction.
inline constexpr unsigned log_column_levels = 8, log_tile = 12, log_table = log_most_roots / 2;
inline constexpr unsigned table_words = 4 * most_words << log_table;

/// Why transforms cannot compute the problem; empty if they can.
std::string without_plan(const registry::problem& p);

/// The definition is faster than transforms up to this many products of coefficients. Transforms of up to 2^17 points
/// all take about the same time, so for them the limit is `least`. Above that it is `a_point` for each point.
struct ntt_cut_off {
  std::uint64_t least, a_point;
};
std::string yields_to_definition(const registry::problem& p, const ntt_cut_off& cut);

}  // namespace tilewise::impl::polymul
