// SPDX-License-Identifier: Apache-2.0
// Checks whether a product of integers fits 64 bits: by a bound or, if the bound does not decide, exactly.
#include "polymul/problem.hpp"
#include "reduce/problem.hpp"
#include "registry/choose.hpp"

#include <cmath>
#include <vector>

namespace tilewise::impl::polymul {

namespace {

// The primes 2^61 - 1, 2^62 - 57 and 2^63 - 25 (from Crandall). Their product has 186 bits. A coefficient is a sum of
// fewer than 2^56 products of at most 2^126, so two coefficients that agree modulo all three primes are equal.
constexpr std::array<std::uint64_t, 3> moduli{(std::uint64_t{1} << 61) - 1, (std::uint64_t{1} << 62) - 57,
                                              (std::uint64_t{1} << 63) - 25};

[[noreturn]] void refuse(std::uint64_t k, std::uint64_t largest_a, std::uint64_t largest_b, std::uint64_t shorter) {
  const double bits = std::log2(largest_a) + std::log2(largest_b) + std::log2(shorter);
  throw error(errc::overflow, "coefficient " + std::to_string(k) + " of the product does not fit 64 bits: sums of " +
                                  std::to_string(shorter) + " products of up to " + std::to_string(largest_a) +
                                  " and " + std::to_string(largest_b) + " can reach 2^" +
                                  std::to_string(static_cast<int>(bits)) +
                                  "; use smaller coefficients, or a modulus below 2^63, with which any fit");
}

/// The least or the largest of some integers on a device.
template <class T>
T extreme(op operation, backend::memory values, std::uint64_t count, backend::queue& queue) {
  const registry::problem p = reduce::problem_of<T>(count, nullptr, operation);
  const registry::choice how = registry::choose(p, queue.device());
  const backend::buffer result(queue, sizeof(T));
  registry::bindings where;
  where.in[0] = values;
  where.out[0] = result;
  how.variant->run(p, where, how.tuning, queue);
  T value;
  queue.download(&value, result, sizeof value);
  return value;
}

template <class T>
std::uint64_t largest_on_device(backend::memory values, std::uint64_t count, backend::queue& queue) {
  if (count == 0) return 0;
  if (queue.device().info().backend == "cpu") return largest_magnitude(values.as<const T>(), count);
  const std::array<T, 2> ends{extreme<T>(op::min, values, count, queue), extreme<T>(op::max, values, count, queue)};
  return largest_magnitude(ends.data(), ends.size());
}

/// The largest magnitudes of both factors.
std::array<std::uint64_t, 2> magnitudes(const registry::problem& p, const registry::bindings& where,
                                        backend::queue& queue) {
  const auto both = [&]<class T>(T) {
    return std::array{largest_on_device<T>(where.in[0], sizes(p).n, queue),
                      largest_on_device<T>(where.in[1], sizes(p).m, queue)};
  };
  return p.type == dtype::i32 ? both(std::int32_t{}) : both(std::int64_t{});
}

/// Whether the largest magnitudes of both factors show that no coefficient can exceed 63 bits.
bool bound_decides(std::uint64_t largest_a, std::uint64_t largest_b, std::uint64_t shorter) {
  constexpr wide_integer most = (wide_integer{1} << 63) - 1;
  if (largest_a == 0 || largest_b == 0 || shorter == 0) return true;
  return wide_integer{largest_a} * largest_b <= most / shorter;
}

bool is_needed(const registry::problem& p, const registry::bindings& where, backend::queue& queue) {
  if (is_float(p.type) || modulus_of(p) != 0 || sizes(p).count == 0) return false;
  const auto [largest_a, largest_b] = magnitudes(p, where, queue);
  return !bound_decides(largest_a, largest_b, sizes(p).shorter());
}

std::vector<std::int64_t> download(backend::memory product, std::uint64_t count, backend::queue& queue) {
  std::vector<std::int64_t> values(count);
  queue.download(values.data(), product, count * sizeof(std::int64_t));
  return values;
}

void require(const registry::problem& p, const registry::bindings& where, backend::queue& queue) {
  const sizes s(p);
  const auto [largest_a, largest_b] = magnitudes(p, where, queue);
  const unsigned needed = product_bits(largest_a, largest_b, s.shorter()) + 2;  // for a signed difference of two
  const std::vector<std::int64_t> c = download(where.out[0], s.count, queue);
  const backend::buffer by_modulus(queue, s.count * sizeof(std::int64_t));
  registry::bindings again = where;
  again.out[0] = by_modulus;
  unsigned known = 0;
  for (std::size_t i = 0; i < moduli.size() && known < needed; ++i) {
    registry::problem modular = p;
    set_modulus(modular, moduli[i]);
    const registry::choice how = registry::choose(modular, queue.device());
    how.variant->run(modular, again, how.tuning, queue);
    const std::vector<std::int64_t> residues = download(by_modulus, s.count, queue);
    for (std::uint64_t k = 0; k < s.count; ++k)
      if (residue(c[k], moduli[i]) != static_cast<std::uint64_t>(residues[k]))
        refuse(s.first + k, largest_a, largest_b, s.shorter());
    known += static_cast<unsigned>(std::bit_width(moduli[i])) - 1;
  }
}

}  // namespace

const registry::proof no_overflow{is_needed, require};

}  // namespace tilewise::impl::polymul
