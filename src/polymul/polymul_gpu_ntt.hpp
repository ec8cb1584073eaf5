// What the number-theoretic transforms of all GPU backends share: primes of one word, and the constants of a product.
#pragma once

#include "polymul/polymul_problem.hpp"

#include <string>

namespace tilewise::impl::polymul {

/// A factor modulo p and floor(factor 2^32 / p), by which Shoup's product finds its quotient. Kernels have the same
/// layout.
struct word_factor {
  std::uint32_t value, quotient;
};

inline constexpr unsigned few_words = 3, most_words = 6;
inline constexpr unsigned log_most_roots = 24;

/// A prime p below 2^30 and what kernels know of it.
struct word_field {
  std::uint32_t p, twice, inverse;           // p, 2 p, 1 / p modulo 2^32
  std::uint32_t minus_radix, minus_radix_2;  // -2^32 and -2^64 modulo p: what the sign of a number adds
  std::uint32_t offset;                      // the least multiple of p that no digit passes
  word_factor one, radix, scale;             // 1, 2^32, and the last factor of the transforms
  word_factor inverse_of[most_words];        // 1 / p of the fields before this one
  std::uint32_t of_bit[2][log_most_roots];   // Montgomery forms of roots of order 4, 8, 16, ...; of their inverses
};

/// One product by transforms of 2^log points modulo `fields` primes. The polynomials modulo x^2n - r[k]^2 are taken
/// modulo x^n - r[k] and x^n + r[k], where k is the block's number in its level, down to blocks of 8 coefficients. r[k]
/// is the product of the roots `of_bit` of k's bits.
struct ntt_plan {
  unsigned log = 0, fields = 0;
  word_field field[most_words]{};
  std::uint64_t weight[most_words]{};  // of the digits of a coefficient, modulo 2^64 or the modulus
  std::uint64_t all = 0;               // the product of the primes modulo 2^64: what a negative number has too much

  explicit ntt_plan(const registry::problem& p);

  constexpr std::uint64_t points() const { return std::uint64_t{1} << log; }
  constexpr std::uint64_t values() const { return fields * points(); }  // of one factor
};

inline constexpr unsigned log_leaf = 3;  // blocks of 8 coefficients are multiplied by the definition
inline constexpr unsigned log_least_points = 12;

/// Why there is no plan for a problem; empty where there is one.
std::string without_plan(const registry::problem& p);

}  // namespace tilewise::impl::polymul
