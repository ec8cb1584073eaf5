// SPDX-License-Identifier: Apache-2.0
#include "polymul/cpu/ntt_primes.hpp"

namespace tilewise::impl::polymul {

std::uint64_t power(std::uint64_t base, std::uint64_t exponent, std::uint64_t p) {
  std::uint64_t result = 1;
  for (; exponent != 0; exponent /= 2, base = static_cast<std::uint64_t>(wide_integer{base} * base % p))
    if (exponent % 2 != 0) result = static_cast<std::uint64_t>(wide_integer{result} * base % p);
  return result;
}

std::uint64_t inverse(std::uint64_t value, std::uint64_t p) { return power(value % p, p - 2, p); }

ntt_digits digits_of(primes_used primes, std::uint64_t points) {
  ntt_digits d{.primes = static_cast<unsigned>(primes.size()), .field = {}, .scale = {}, .inverse_of = {}};
  for (unsigned k = 0; k < d.primes; ++k) {
    const std::uint64_t p = primes[k].p;
    d.field[k] = field_of(primes[k]);
    d.scale[k] = centred(inverse(points, p), p);
    for (unsigned j = 0; j < k; ++j) d.inverse_of[j][k] = centred(inverse(primes[j].p, p), p);
  }
  return d;
}

void exact_values::operator()(const std::array<double*, most_primes>& digit, std::uint64_t first,
                              std::uint64_t count) const {
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t value = 0;
    for (std::size_t k = primes.size(); k-- != 0;)
      value = value * primes[k].p + static_cast<std::uint64_t>(static_cast<std::int64_t>(digit[k][i]));
    to[first + i] = static_cast<std::int64_t>(value);
  }
}

void modular_values::operator()(const std::array<double*, most_primes>& digit, std::uint64_t first,
                                std::uint64_t count) const {
  const auto residue_of = [&](std::size_t k, std::uint64_t i) {
    return residue(static_cast<std::int64_t>(digit[k][i]), modulus);
  };
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t value = residue_of(primes.size() - 1, i);
    for (std::size_t k = primes.size() - 1; k-- != 0;)
      value = static_cast<std::uint64_t>((wide_integer{value} * primes[k].p + residue_of(k, i)) % modulus);
    to[first + i] = static_cast<std::int64_t>(value);
  }
}

std::string yields_to_definition_on_cpu(const sizes& s) {
  // Transforms compute N log2 N elements. Each takes as long as this many products of the definition: at 480 x 480 both
  // methods take equally long on two Zen 4 cores (results/epyc-zen4-2core/polymul.jsonl.gz).
  constexpr std::uint64_t products_an_element = 22;
  if (s.product() == 0) return "";
  const auto log = static_cast<std::uint64_t>(std::bit_width(s.product() - 1));
  const std::uint64_t limit = products_an_element * (log << log);
  return s.shorter() <= limit / std::max(s.n, s.m) ? "the definition is faster for short factors" : "";
}

}  // namespace tilewise::impl::polymul
