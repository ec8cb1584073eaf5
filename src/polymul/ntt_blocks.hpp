// SPDX-License-Identifier: Apache-2.0
// A product by the transforms of gpu_ntt.hpp on several devices that read and write one another's memory. Each device
// takes one block of a level of the tree. The levels above it are part of the first and the last pass, which access the
// memory of all devices.
#pragma once

#include "backend/backend.hpp"
#include "polymul/gpu_ntt.hpp"

namespace tilewise::backend::group {
class rank;
}

namespace tilewise::impl::polymul {

inline constexpr unsigned log_most_blocks = 3, most_blocks = 1u << log_most_blocks;
inline constexpr unsigned most_parts = 16;  // most parts that an array may be in

/// Block `number` of the level that has 2^log_blocks blocks.
struct ntt_block {
  ntt_plan plan;  // the plan of the whole product
  unsigned log_blocks, number;

  ntt_block(const registry::problem& p, unsigned log_of_blocks, unsigned which)
      : plan(p, log_least_points + log_of_blocks), log_blocks(log_of_blocks), number(which) {}

  unsigned log() const { return plan.log - log_blocks; }
  /// The size of the block's residues of one factor, or of the product.
  std::uint64_t bytes() const { return plan.values() * sizeof(std::uint32_t) >> log_blocks; }
};

/// Computes the residues of the product modulo the block, and writes them to the first block.bytes() of `residues`; the
/// rest of `residues` is workspace. The parts of the factors may lie on any of the devices.
using block_multiplier = void(const registry::problem& p, const ntt_block& block,
                              std::span<const backend::memory> a_parts, std::span<const backend::memory> b_parts,
                              const backend::memory& residues, backend::queue& queue);

/// Computes the device's share of the coefficients from the residues of all blocks, and writes it to `c_parts`.
using block_combiner = void(const registry::problem& p, const ntt_block& block,
                            std::span<const backend::memory> residues, std::span<const backend::memory> c_parts,
                            backend::queue& queue);

block_multiplier multiply_block_on_cuda;
block_combiner combine_blocks_on_cuda;

/// Computes a product; all ranks, at least two, call it together. Each of the first 2^log_blocks ranks takes one block.
/// All ranks must be CUDA devices that read and write one another's memory.
void multiply_by_blocks(const registry::problem& p, const registry::bindings& where, const backend::group::rank& r,
                        unsigned log_blocks);

}  // namespace tilewise::impl::polymul
