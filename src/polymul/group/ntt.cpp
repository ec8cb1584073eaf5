// SPDX-License-Identifier: Apache-2.0
// What:   polynomial product on the ranks of a group, by number-theoretic transforms: which of its ways.
// Order:  none: exact, so every way of computing it gives the same bits.
// Shape:  CUDA devices that have one another's memory share the blocks of the transforms; of other GPUs the first has
//         all; ranks among which there is a CPU share the primes.
// Limits: those of the ways, and of the members' variants.
// Twins:  serial.cpp, cpu/ntt.cpp, cuda/ntt.cu.
#include "polymul/cpu/ntt_primes.hpp"
#include "polymul/group/variants.hpp"
#include "polymul/ntt_blocks.hpp"

namespace tilewise::impl::polymul {

namespace {

using backend::group::byte_range;
using backend::group::piece;
using backend::group::rank_memory;
using registry::rank;

/// Of as many blocks as there are ranks, or the next lower power of two.
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
  if (r.index() == 0) registry::run_on_rank(r, p, {.in = {factors[0], factors[1]}, .out = {c}}, by_ntt);
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
  registry::run_on_ranks(queue, p, where, multiply_share, by_ntt);
}

/// Of the ranks in other processes nothing is known here: these may refuse when they compute.
std::string unsupported(const registry::problem& p, const backend::device& on, const registry::tuning&) {
  if (is_range(p)) return std::string(whole_only);
  const auto members = backend::group::members_of(on);
  const bool has_cpu = std::any_of(members.begin(), members.end(), [](const auto& one) { return one->info().is_cpu; });
  std::string why = has_cpu ? no_primes(p, on) : "";
  return why.empty() ? registry::unsupported_by_members(p, on, by_ntt) : why;
}

/// All ranks must choose alike, whatever their devices, so only the sizes count: as on a CPU.
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
