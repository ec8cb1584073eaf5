// SPDX-License-Identifier: Apache-2.0
#include "polymul/gpu_ntt.hpp"

namespace tilewise::impl::polymul {

namespace {

struct prime_facts {
  std::uint32_t p, root;  // the root has order 2^log_order
  unsigned log_order;
};
// Three primes represent any signed 64-bit number, six any sum of 2^26 products of residues below 2^63.
constexpr std::array<prime_facts, most_words> primes{{{754974721, 739831874, 24},
                                                      {469762049, 320192759, 24},
                                                      {167772161, 59049, 24},
                                                      {998244353, 15311432, 23},
                                                      {897581057, 872686320, 23},
                                                      {880803841, 98722167, 23}}};
constexpr unsigned bits_of_few = 85, bits_of_all = 174;

std::uint32_t times(std::uint64_t a, std::uint64_t b, std::uint32_t p) {
  return static_cast<std::uint32_t>(a % p * (b % p) % p);
}

std::uint32_t power(std::uint64_t base, std::uint64_t exponent, std::uint32_t p) {
  std::uint32_t result = 1;
  for (; exponent != 0; exponent /= 2, base = times(base, base, p))
    if (exponent % 2 != 0) result = times(result, base, p);
  return result;
}

std::uint32_t inverse(std::uint64_t value, std::uint32_t p) { return power(value, p - 2, p); }

constexpr std::uint64_t radix = std::uint64_t{1} << 32;

word_factor factor(std::uint32_t value, std::uint32_t p) {
  return {value, static_cast<std::uint32_t>((std::uint64_t{value} << 32) / p)};
}

/// Newton's iteration modulo 2^32; every odd p is its own inverse modulo 8.
std::uint32_t inverse_of(std::uint32_t p) {
  std::uint32_t x = p;
  for (int i = 0; i < 4; ++i) x *= 2 - p * x;
  return x;
}

word_field field_of(unsigned k) {
  const auto [p, root, log_order] = primes[k];
  word_field f{};
  f.p = p;
  f.twice = 2 * p;
  f.inverse = inverse_of(p);
  f.one = factor(1, p);
  f.radix = factor(static_cast<std::uint32_t>(radix % p), p);
  f.minus_radix = p - f.radix.value;
  f.minus_radix_2 = p - times(radix, radix, p);
  f.offset = (std::uint32_t{1} << 30) / p * p + p;
  for (unsigned j = 0; j < k; ++j) f.inverse_of[j] = factor(inverse(primes[j].p, p), p);
  for (unsigned bit = 0; bit + 2 <= log_order; ++bit) {
    const std::uint32_t of_order = power(root, std::uint64_t{1} << (log_order - bit - 2), p);
    f.of_bit[0][bit] = times(of_order, radix, p);
    f.of_bit[1][bit] = times(inverse(of_order, p), radix, p);
  }
  return f;
}

unsigned bits_of(const registry::problem& p) {
  if (modulus_of(p) == 0) return 64;  // including the sign
  return 2 * static_cast<unsigned>(std::bit_width(modulus_of(p) - 1)) +
         static_cast<unsigned>(std::bit_width(sizes(p).shorter()));
}

unsigned fields_for(const registry::problem& p) { return bits_of(p) <= bits_of_few ? few_words : most_words; }

}  // namespace

const word_fields& all_word_fields() {
  static const word_fields all = [] {
    word_fields made;
    for (unsigned k = 0; k < most_words; ++k) made.at[k] = field_of(k);
    return made;
  }();
  return all;
}

ntt_plan::ntt_plan(const registry::problem& p, unsigned log_least)
    : log(std::max(log_least,
                   static_cast<unsigned>(std::bit_width(std::max<std::uint64_t>(sizes(p).product(), 1) - 1)))),
      fields(fields_for(p)),
      sums(sums_of(log, fields, modulus_of(p))) {}

ntt_sums sums_of(unsigned log, unsigned fields, std::uint64_t modulus) {
  ntt_sums sums{};
  std::uint64_t weight = modulus == 0 ? 1 : 1 % modulus;
  sums.all = 1;
  for (unsigned k = 0; k < fields; ++k) {
    const std::uint32_t prime = primes[k].p;
    // Each level doubles the values, and Montgomery's reduction divides a leaf's product by 2^32.
    sums.scale[k] = factor(times(radix, inverse(std::uint64_t{1} << (log - log_leaf), prime), prime), prime);
    sums.weight[k] = weight;
    weight = modulus == 0 ? weight * prime : static_cast<std::uint64_t>(wide_integer{weight} * prime % modulus);
    sums.all *= prime;
  }
  return sums;
}

std::string without_plan(const registry::problem& p) {
  if (is_range(p)) return std::string(whole_only);
  const unsigned used = fields_for(p);
  unsigned log_order = log_most_roots;
  for (unsigned k = 0; k < used; ++k) log_order = std::min(log_order, primes[k].log_order);
  if (sizes(p).product() > std::uint64_t{1} << (log_order + log_leaf))
    return "its primes have no roots for more than 2^" + std::to_string(log_order + log_leaf) + " coefficients";
  if (bits_of(p) > bits_of_all) return "its primes hold only " + std::to_string(bits_of_all) + " bits";
  return "";
}

std::string yields_to_definition(const registry::problem& p, const ntt_cut_off& cut) {
  const sizes s(p);
  constexpr unsigned log_same = 17;
  const unsigned log = s.product() == 0 ? 0 : static_cast<unsigned>(std::bit_width(s.product() - 1));
  const std::uint64_t limit = log <= log_same ? cut.least : cut.a_point << log;
  return s.shorter() == 0 || s.shorter() <= limit / std::max(s.n, s.m) ? "the definition is faster for short factors"
                                                                       : "";
}

}  // namespace tilewise::impl::polymul
