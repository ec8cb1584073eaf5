// SPDX-License-Identifier: Apache-2.0
// The transforms on CPUs as groups know them too: their primes, numbers from their residues, where they are faster.
#pragma once

#include "polymul/cpu/ntt_kernels.hpp"
#include "polymul/problem.hpp"

#include <span>

namespace tilewise::impl::polymul {

struct prime_facts {
  std::uint64_t p, root;  // of order 2^32
};
inline constexpr unsigned log_order = 32;
inline constexpr std::array<prime_facts, most_primes> cpu_primes{{{562941363486721, 552157008438139},
                                                                  {562932773552129, 57384681695955},
                                                                  {562842579238913, 139266669608062},
                                                                  {562816809435137, 156219524466599}}};
using primes_used = std::span<const prime_facts>;

/// As many as hold numbers of a magnitude below 2^bits, with their sign.
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

/// From residues `points` times as large.
ntt_digits digits_of(primes_used primes, std::uint64_t points);

/// From digits to 64 bits, exact where they fit.
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

/// Why `auto` takes the definition; empty where transforms are faster.
std::string yields_to_definition_on_cpu(const sizes& s);

}  // namespace tilewise::impl::polymul
