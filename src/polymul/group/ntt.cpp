// SPDX-License-Identifier: Apache-2.0
// What:   polynomial product on the ranks of a group, by number-theoretic transforms.
// Order:  none: exact, so every way of computing it gives the same bits.
// Shape:  CUDA devices that read and write one another's memory divide the blocks of the transforms among themselves.
//         With other GPUs the first one computes everything. If a rank is a CPU, ranks divide the CPU's primes.
// Limits: blocks: a power of two of ranks compute, 8 at most; the others only hold their parts. Primes: at most two
//         ranks compute, four for i64 with a modulus. Also those of cuda/ntt.cu and of the members' variants.
// Twins:  serial.cpp, cpu/ntt.cpp, cuda/ntt.cu.
#include "backend/cpu/device.hpp"
#include "base/ceil_div.hpp"
#include "divide/ranks.hpp"
#include "polymul/cpu/ntt_primes.hpp"
#include "polymul/ntt_blocks.hpp"

#include <deque>

namespace tilewise::impl::polymul {

namespace {

using backend::memory;
using backend::group::byte_range;
using backend::group::part_of;
using backend::group::piece;
using backend::group::rank_memory;
using divide::rank;

constexpr registry::preferences by_ntt{.variant = "ntt"};

// By blocks: a rank reads the factors in place, reduces them modulo one of 2^g polynomials, and multiplies there. Then
// it takes a share of all ranks' residues through the first g levels, and writes these coefficients to their places.

/// The device's functions. This way needs CUDA: other groups cannot read and write one another's memory.
struct passes {
  block_multiplier* multiply = nullptr;
  block_combiner* combine = nullptr;
};
#if TILEWISE_WITH_CUDA
constexpr passes on_cuda{multiply_block_on_cuda, combine_blocks_on_cuda};
#else
constexpr passes on_cuda{};
#endif

using parts = std::vector<memory>;  // one of each rank, in order

/// Lets the first `workers` ranks access two memories of each rank. Calls work(first, second) on them, with the
/// memories of all ranks in order. bytes_of(which, rank) is the size of each memory.
template <class BytesOf, class Work>
void with_memory_of_all(const rank& r, unsigned workers, const std::array<memory, 2>& own, const BytesOf& bytes_of,
                        const Work& work) {
  std::vector<backend::group::parcel> sends;
  std::vector<backend::group::demand> receives;
  for (unsigned peer = 0; peer < r.count(); ++peer)
    for (unsigned which = 0; which < 2 && peer != r.index(); ++which) {
      if (peer < workers && own[which].bytes != 0) sends.push_back({peer, own[which]});
      if (r.index() < workers && bytes_of(which, peer) != 0) receives.push_back({peer, bytes_of(which, peer)});
    }
  const backend::group::loan lent = r.borrow(sends, receives);
  if (r.index() < workers) {
    std::array<parts, 2> all;
    std::size_t next = 0;
    for (unsigned peer = 0; peer < r.count(); ++peer)
      for (unsigned which = 0; which < 2; ++which)
        all[which].push_back(peer == r.index() ? own[which] : bytes_of(which, peer) != 0 ? lent.at(next++) : memory{});
    work(all[0], all[1]);
  }
  r.give_back();
}

}  // namespace

void multiply_by_blocks(const registry::problem& p, const registry::bindings& where, const rank& r,
                        unsigned log_blocks) {
  const ntt_block block(p, log_blocks, r.index());
  const unsigned blocks = 1u << log_blocks;
  const auto product_bytes = [&](unsigned rank) { return rank < blocks ? block.bytes() : 0; };
  const auto own_part = [&](const memory& m) { return local(m, r.index(), r.part(m)); };
  const auto [a, b, c] = std::array{where.in[0], where.in[1], where.out[0]};
  const backend::buffer residues(r.queue(), 2 * product_bytes(r.index()));
  with_memory_of_all(
      r, blocks, {own_part(a), own_part(b)},
      [&](unsigned which, unsigned rank) { return part_of(which == 0 ? a : b, rank).bytes(); },
      [&](const parts& all_a, const parts& all_b) { on_cuda.multiply(p, block, all_a, all_b, residues, r.queue()); });
  with_memory_of_all(
      r, blocks, {memory(residues).at(0, product_bytes(r.index())), own_part(c)},
      [&](unsigned which, unsigned rank) { return which == 0 ? product_bytes(rank) : part_of(c, rank).bytes(); },
      [&](const parts& all_residues, const parts& all_c) {
        on_cuda.combine(p, block, std::span(all_residues).first(blocks), all_c, r.queue());
      });
}

namespace {

// By primes: each rank computes the product modulo its share of the primes and sends the residues. Then each rank
// combines the residues of its part of the product, on the host.

/// Enough primes for any coefficients of the type, since ranks do not know the coefficients of others.
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
  /// The residues modulo prime k, on the rank's device.
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
    divide::run_on_rank(rank_, modular, {.in = {a, b}, .out = {to}}, by_ntt);
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

/// Computes coefficients from their residues.
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

/// Why some member cannot multiply modulo the primes; empty if all can.
std::string no_primes(const registry::problem& p, const backend::device& group) {
  registry::problem modular = p;
  set_modulus(modular, cpu_primes.front().p);
  return divide::unsupported_by_members(modular, group, by_ntt);
}

// The choice between the two ways.

/// The logarithm of the number of blocks: as many as ranks, or the next lower power of two.
unsigned log_blocks_for(unsigned ranks) {
  return std::min(log_most_blocks, static_cast<unsigned>(std::bit_width(ranks)) - 1);
}

bool all_are_gpus(const rank& r) {
  const unsigned char is_gpu = r.queue().device().info().is_cpu ? 0 : 1;
  const std::vector<unsigned char> all = r.all_gather(is_gpu);
  return std::all_of(all.begin(), all.end(), [](unsigned char one) { return one != 0; });
}

void multiply_on_first(const registry::problem& p, const registry::bindings& where, const rank& r) {
  const auto on_first = [](const backend::memory& m) {
    return [bytes = m.bytes](unsigned k) { return byte_range{0, k == 0 ? bytes : 0}; };
  };
  const std::vector<rank_memory> factors =
      r.fetch(std::array{piece{where.in[0], on_first(where.in[0])}, piece{where.in[1], on_first(where.in[1])}});
  const rank_memory c = r.result(where.out[0], on_first(where.out[0])(r.index()));
  if (r.index() == 0) divide::run_on_rank(r, p, {.in = {factors[0], factors[1]}, .out = {c}}, by_ntt);
  r.deliver(where.out[0], on_first(where.out[0]), c);
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& queue) {
  if (sizes(p).product() == 0) return;
  const backend::group::queue& group = backend::group::enter(queue);
  const bool by_blocks = group.has_one_cuda_memory() && group.ranks() <= most_parts;
  const auto multiply_share = [&](const rank& r) {
    if (by_blocks) return multiply_by_blocks(p, where, r, log_blocks_for(r.count()));
    if (all_are_gpus(r)) return multiply_on_first(p, where, r);
    multiply_by_primes(p, where, r);
  };
  divide::run_on_ranks(queue, p, where, multiply_share, by_ntt);
}

/// Checks only the ranks of this process. Those of other processes may still refuse when they compute.
std::string unsupported(const registry::problem& p, const backend::device& on, const registry::tuning&) {
  if (is_range(p)) return std::string(whole_only);
  const auto members = backend::group::members_of(on);
  const bool has_cpu = std::any_of(members.begin(), members.end(), [](const auto& one) { return one->info().is_cpu; });
  std::string why = has_cpu ? no_primes(p, on) : "";
  return why.empty() ? divide::unsupported_by_members(p, on, by_ntt) : why;
}

/// All ranks must make the same choice on any device, so it depends on the sizes alone, as on a CPU.
std::string yields(const registry::problem& p, const backend::device&) {
  return modulus_of(p) == 0 ? yields_to_definition_on_cpu(sizes(p)) : "";
}

}  // namespace

registry::variant group_ntt_variant() {
  return {.algorithm = "polymul",
          .backend = "group",
          .name = "ntt",
          .types = integer_types,
          .source = "the members' transforms: a block a rank, or a prime a rank",
          .unsupported = unsupported,
          .yields = yields,
          .run = run};
}

}  // namespace tilewise::impl::polymul
