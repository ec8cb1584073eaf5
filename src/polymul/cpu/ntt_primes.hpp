// SPDX-License-Identifier: Apache-2.0
// The parts of the CPU's transforms that groups use too: the primes, the conversion of residues to numbers, and when
// transforms are faster than the definition.
#pragma once

#include "polymul/cpu/ntt_kernels.hpp"
#include "polymul/problem.hpp"

#include <span>

namespace tilewise::impl::polymul {

struct prime_facts {
  std::uint64_t p, root;  // the root has order 2^32
};
inline constexpr unsigned log_order = 32;
inline constexpr std::array<prime_facts, most_primes> cpu_primes{{{562941363486721, 552157008438139},
                                                                  {562932773552129, 57384681695955},
                                                                  {562842579238913, 139266669608062},
                                                                  {562816809435137, 156219524466599}}};
using primes_used = std::span<const prime_facts>;

/// As many primes as represent signed numbers of magnitude below 2^bits.
constexpr primes_used primes_for(unsigned bits) {
  constexpr unsigned bits_a_prime = 48;
  return primes_used(cpu_primes).first(bits / bits_a_prime + 1);
}

constexpr ntt_field field_of(const prime_facts& f) { return {static_cast<double>(f.p), 1 / static_cast<double>(f.p)}; }

std::uint64_t power(std::uint64_t base, std::uint64_t exponent, std::uint64_t p);
std::uint64_t inverse(std::uint64_t value, std::uint64_t p);
inline double centred(std::uint64_t residue, std::uint64_t p) {
  return residue > p / 2 ? -static_cast<double>(p - residue) : static_cast<double>(residue);
}

/// The conversion to digits of residues that are `points` times too large.
ntt_digits digits_of(primes_used primes, std::uint64_t points);

/// Converts digits to 64-bit integers, which are exact if they fit.
struct exact_values {
  std::int64_t* to;
  primes_used primes;

  void operator()(const std::array<double*, most_primes>& digit, std::uint64_t first, std::uint64_t count) const;
};

struct modular_values {
  std::int64_t* to;
  primes_used primes;
  std::uint64_t modulus;

  void operator()(const std::array<double*, most_primes>& digit, std::uint64_t first, std::uint64_t count) const;
};

/// Why the choice of a variant prefers the definition; empty if transforms are faster.
std::string yields_to_definition_on_cpu(const sizes& s);

}  // namespace tilewise::impl::polymul
