// SPDX-License-Identifier: Apache-2.0
// What:   polynomial product on GPUs that read and write one another's memory, by number-theoretic transforms.
// Order:  none: exact, so every way of computing it gives the same bits.
// Shape:  a rank takes the factors, where they lie, modulo one of 2^g polynomials, and multiplies there; then it takes
//         a share of all ranks' residues through the first g levels, and writes these coefficients where they belong.
// Limits: a power of two of ranks, 8 at most; further ones only have their parts. Those of cuda/ntt.cu.
// Twins:  serial.cpp, cuda/ntt.cu.
#include "polymul/ntt_blocks.hpp"
#include "polymul/group/variants.hpp"

namespace tilewise::impl::polymul {

namespace {

using backend::memory;
using backend::group::part_of;
using registry::rank;

/// The device's functions. Without CUDA no group has the memory for this way.
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

/// Two memories of each rank, open to the ranks that transform while `work` is enqueued there. Calls work(first,
/// second) with those of all ranks, in order. All know how many bytes each rank has.
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

}  // namespace tilewise::impl::polymul
