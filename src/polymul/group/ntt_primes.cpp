// SPDX-License-Identifier: Apache-2.0
// What:   polynomial product on the ranks of a group, by number-theoretic transforms modulo the CPU's primes.
// Order:  none: exact, so every way of computing it gives the same bits.
// Shape:  each rank makes the product modulo its share of the primes; the residues travel, and each rank combines those
//         of its part of the product, on the host.
// Limits: two primes, four for i64 with a modulus: no more ranks than that multiply. Those of the members' variants.
// Twins:  serial.cpp, cpu/ntt.cpp.
#include "polymul/cpu/ntt_primes.hpp"
#include "backend/cpu/device.hpp"
#include "base/ceil_div.hpp"
#include "polymul/group/variants.hpp"

#include <deque>

namespace tilewise::impl::polymul {

namespace {

using backend::group::byte_range;
using backend::group::piece;
using backend::group::rank_memory;
using registry::rank;

/// For any coefficients of the type: ranks need not know what the others have.
primes_used primes_of(const registry::problem& p) {
  if (modulus_of(p) == 0) return primes_for(63);  // no_overflow refuses any other
  const unsigned bits = 8 * static_cast<unsigned>(size_of(p.type));
  return primes_for(2 * bits + static_cast<unsigned>(std::bit_width(sizes(p).shorter())));
}

/// The residues modulo all primes of a rank's part of the product.
class residues {
 public:
  residues(const registry::problem& p, const registry::bindings& where, const rank& r)
      : rank_(r), part_(r.part(where.out[0])), primes_(primes_of(p)) {
    const auto all_of = [this](const backend::memory& factor) {
      return piece{factor, [this, bytes = factor.bytes](unsigned k) {
                     return byte_range{0, k < primes_.size() ? bytes : 0};
                   }};
    };
    const std::vector<rank_memory> factors = r.fetch(std::array{all_of(where.in[0]), all_of(where.in[1])});
    for (unsigned k = 0; k < primes_.size(); ++k) {
      const bool is_own = owner(k) == r.index();
      made_.emplace_back(r.queue(), is_own ? where.out[0].bytes : part_.bytes());
      if (is_own) multiply(p, primes_[k].p, factors[0], factors[1], made_[k]);
    }
    exchange(where.out[0]);
  }

  byte_range part() const { return part_; }
  primes_used primes() const { return primes_; }
  /// Modulo prime k, on the rank's device.
  backend::memory at(unsigned k) const {
    const backend::memory all = made_[k];
    return owner(k) == rank_.index() ? all.at(part_.begin, part_.bytes()) : all;
  }

 private:
  unsigned owner(unsigned k) const { return k % rank_.count(); }

  void multiply(const registry::problem& p, std::uint64_t prime, const backend::memory& a, const backend::memory& b,
                const backend::memory& to) const {
    registry::problem modular = p;
    set_modulus(modular, prime);
    registry::run_on_rank(rank_, modular, {.in = {a, b}, .out = {to}}, by_ntt);
  }

  void exchange(const backend::memory& product) const {
    std::vector<backend::group::parcel> sends, receives;
    for (unsigned k = 0; k < primes_.size(); ++k) {
      for (unsigned peer = 0; owner(k) == rank_.index() && peer < rank_.count(); ++peer) {
        const byte_range theirs = backend::group::part_of(product, peer);
        if (peer != rank_.index() && theirs.bytes() != 0)
          sends.push_back({peer, backend::memory(made_[k]).at(theirs.begin, theirs.bytes())});
      }
      if (owner(k) != rank_.index() && part_.bytes() != 0) receives.push_back({owner(k), made_[k]});
    }
    rank_.exchange(sends, receives);
  }

  const rank& rank_;
  byte_range part_;
  primes_used primes_;
  std::deque<backend::buffer> made_;  // whole products of its own primes, its part of the others
};

/// Coefficients from their residues.
class combination {
 public:
  combination(primes_used primes, std::uint64_t modulus)
      : primes_(primes), modulus_(modulus), digits_(digits_of(primes, 1)) {}

  static constexpr std::uint64_t tile = 512;  // at most

  void operator()(const std::array<const std::int64_t*, most_primes>& residue, std::uint64_t first, std::uint64_t count,
                  std::int64_t* to) const {
    alignas(64) std::array<std::array<double, tile>, most_primes> room{};
    std::array<double*, most_primes> digit{};
    for (unsigned k = 0; k < digits_.primes; ++k) {
      digit[k] = room[k].data();
      for (std::uint64_t i = 0; i < count; ++i) room[k][i] = static_cast<double>(residue[k][first + i]);
    }
    ntt_kernels_for(backend::cpu::best_instruction_set()).to_digits(digits_, digit.data(), tile);
    if (modulus_ == 0)
      exact_values{to + first, primes_}(digit, 0, count);
    else
      modular_values{to + first, primes_, modulus_}(digit, 0, count);
  }

 private:
  primes_used primes_;
  std::uint64_t modulus_;
  ntt_digits digits_;
};

void combine_on_cpu(const residues& from, const combination& combine, const backend::memory& to,
                    backend::cpu::queue& queue) {
  const std::uint64_t count = to.bytes / sizeof(std::int64_t);
  std::array<const std::int64_t*, most_primes> residue{};
  for (unsigned k = 0; k < from.primes().size(); ++k) residue[k] = from.at(k).as<const std::int64_t>();
  queue.for_each_tile(ceil_div(count, combination::tile), [&](std::uint64_t i, unsigned) {
    const std::uint64_t first = i * combination::tile;
    combine(residue, first, std::min(combination::tile, count - first), to.as<std::int64_t>());
  });
}

void combine_on_host(const residues& from, const combination& combine, const backend::memory& to,
                     backend::queue& queue) {
  const std::uint64_t count = to.bytes / sizeof(std::int64_t);
  std::array<std::vector<std::int64_t>, most_primes> values;
  std::array<const std::int64_t*, most_primes> residue{};
  for (unsigned k = 0; k < from.primes().size(); ++k) {
    values[k].resize(count);
    queue.download(values[k].data(), from.at(k), to.bytes);
    residue[k] = values[k].data();
  }
  std::vector<std::int64_t> result(count);
  for (std::uint64_t first = 0; first < count; first += combination::tile)
    combine(residue, first, std::min(combination::tile, count - first), result.data());
  queue.upload(to, result.data(), to.bytes);
}

}  // namespace

void multiply_by_primes(const registry::problem& p, const registry::bindings& where, const rank& r) {
  const residues all(p, where, r);
  if (all.part().bytes() == 0) return;
  const combination combine(all.primes(), modulus_of(p));
  const backend::memory to = local(where.out[0], r.index(), all.part());
  if (r.queue().device().info().backend == "cpu")
    combine_on_cpu(all, combine, to, static_cast<backend::cpu::queue&>(r.queue()));
  else
    combine_on_host(all, combine, to, r.queue());
}

std::string no_primes(const registry::problem& p, const backend::device& group) {
  registry::problem modular = p;
  set_modulus(modular, cpu_primes.front().p);
  return registry::unsupported_by_members(modular, group, by_ntt);
}

}  // namespace tilewise::impl::polymul
