// SPDX-License-Identifier: Apache-2.0
// What the number-theoretic transforms of all GPU backends share: primes of one word, and the constants of a product.
#pragma once

#include "polymul/problem.hpp"

#include <string>

namespace tilewise::impl::polymul {

/// A factor modulo p and floor(factor 2^32 / p), from which Shoup's product finds its quotient. Kernels have the same
/// layout.
struct word_factor {
  std::uint32_t value, quotient;
};

inline constexpr unsigned least_words = 2, few_words = 3, most_words = 6;
inline constexpr unsigned log_most_roots = 24;

/// A prime p below 2^30 and what kernels know about it.
struct word_field {
  std::uint32_t p, twice, inverse;           // p, 2 p, 1 / p modulo 2^32
  std::uint32_t minus_radix, minus_radix_2;  // -2^32 and -2^64 modulo p: what a negative sign adds
  std::uint32_t offset;                      // the least multiple of p that no digit exceeds
  word_factor one, radix;                    // 1 and 2^32
  word_factor inverse_of[most_words];        // 1 / p of the fields before this one
  std::uint32_t of_bit[2][log_most_roots];   // Montgomery forms of roots of order 4, 8, 16, ...; of their inverses
};

/// All fields; a product uses the first of them.
struct word_fields {
  word_field at[most_words];
};
const word_fields& all_word_fields();

/// How the residues of a coefficient are combined.
struct ntt_sums {
  word_factor scale[most_words];     // the last factor of the transforms
  std::uint64_t weight[most_words];  // of the digits of a coefficient, modulo 2^64 or the modulus
  std::uint64_t all;                 // the product of the primes modulo 2^64: by which a negative number is too large
};

ntt_sums sums_of(unsigned log, unsigned fields, std::uint64_t modulus);

/// Two primes hold signed numbers up to this magnitude.
inline constexpr std::uint64_t most_of_least_words = std::uint64_t{1} << 56;

inline constexpr unsigned log_leaf = 3;  // blocks of 8 coefficients are multiplied by the definition
inline constexpr unsigned log_least_points = 12;

/// One product by transforms of 2^log points modulo `fields` primes. The polynomials modulo x^2n - r[k]^2 are taken
/// modulo x^n - r[k] and x^n + r[k], where k is the block's number in its level, down to blocks of 8 coefficients. r[k]
/// is the product of the roots `of_bit` of k's bits.
struct ntt_plan {
  unsigned log, fields;
  ntt_sums sums;

  explicit ntt_plan(const registry::problem& p, unsigned log_least = log_least_points);

  constexpr std::uint64_t points() const { return std::uint64_t{1} << log; }
  constexpr std::uint64_t values() const { return fields * points(); }  // of one factor
};

// The kernels of all backends cut the points in the same way: 256 rows of a block at a time through 8 levels, tiles of
// 4096 neighbours through up to 9, and two tables of 4096 roots per field and direction.
inline constexpr unsigned log_column_levels = 8, log_tile = 12, log_table = log_most_roots / 2;
inline constexpr unsigned table_words = 4 * most_words << log_table;

/// Why there is no plan for a problem; empty where there is one.
std::string without_plan(const registry::problem& p);

/// Up to this many products of coefficients the definition takes less time than transforms: `least` where these have
/// up to 2^17 points, which all take about the same time, and above that `a_point` for each point.
struct ntt_cut_off {
  std::uint64_t least, a_point;
};
std::string yields_to_definition(const registry::problem& p, const ntt_cut_off& cut);

}  // namespace tilewise::impl::polymul
