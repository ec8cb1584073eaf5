#include "polymul/polymul_overflow.hpp"

#include "polymul/polymul_problem.hpp"
#include "registry/execute.hpp"

#include <vector>

namespace tilewise::impl::polymul {

namespace {

// Primes; by Crandall 2^61 - 1, 2^62 - 57 and 2^63 - 25. Together they have 186 bits. A coefficient is a sum of fewer
// than 2^56 products of at most 2^126, so two of them that agree by all three moduli are one.
constexpr std::array<std::uint64_t, 3> moduli{(std::uint64_t{1} << 61) - 1, (std::uint64_t{1} << 62) - 57,
                                              (std::uint64_t{1} << 63) - 25};

[[noreturn]] void refuse(std::uint64_t k, std::uint64_t largest_a, std::uint64_t largest_b, std::uint64_t shorter) {
  throw error(errc::overflow, "coefficient " + std::to_string(k) + " of the product does not fit 64 bits: sums of " +
                                  std::to_string(shorter) + " products of up to " + std::to_string(largest_a) +
                                  " and " + std::to_string(largest_b) + " can reach 2^" +
                                  std::to_string(product_bits(largest_a, largest_b, shorter)) +
                                  "; smaller coefficients fit, and a modulus (--modulus) below 2^63 makes any fit");
}

template <class T>
void require_exact(const registry::problem& p, const T* a, const T* b, const std::int64_t* c, backend::device& on) {
  const sizes s(p);
  const std::uint64_t largest_a = largest_magnitude(a, s.n), largest_b = largest_magnitude(b, s.m);
  if (bound_decides(largest_a, largest_b, s.shorter())) return;
  const unsigned needed = product_bits(largest_a, largest_b, s.shorter()) + 2;  // a difference of two, with its sign
  std::vector<std::int64_t> by_modulus(s.product());
  unsigned known = 0;
  for (std::size_t i = 0; i < moduli.size() && known < needed; ++i) {
    registry::problem modular = p;
    set_modulus(modular, moduli[i]);
    const std::array<const void*, 2> inputs{a, b};
    const std::array<void*, 1> outputs{by_modulus.data()};
    registry::execute_on_host(modular, registry::choose(modular, on), on.queue(), inputs, outputs);
    for (std::uint64_t k = 0; k < s.product(); ++k)
      if (residue(c[k], moduli[i]) != static_cast<std::uint64_t>(by_modulus[k]))
        refuse(k, largest_a, largest_b, s.shorter());
    known += static_cast<unsigned>(std::bit_width(moduli[i])) - 1;
  }
}

}  // namespace

bool bound_decides(std::uint64_t largest_a, std::uint64_t largest_b, std::uint64_t shorter) {
  __extension__ using wide = unsigned __int128;
  constexpr wide most = (wide{1} << 63) - 1;
  if (largest_a == 0 || largest_b == 0 || shorter == 0) return true;
  return wide{largest_a} * largest_b <= most / shorter;
}

void require_exact(const registry::problem& p, const void* a, const void* b, const std::int64_t* c,
                   backend::device& on) {
  if (p.type == dtype::i32)
    require_exact(p, static_cast<const std::int32_t*>(a), static_cast<const std::int32_t*>(b), c, on);
  else
    require_exact(p, static_cast<const std::int64_t*>(a), static_cast<const std::int64_t*>(b), c, on);
}

}  // namespace tilewise::impl::polymul
