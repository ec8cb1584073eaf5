// SPDX-License-Identifier: Apache-2.0
// The values of consecutive blocks, wherever they lie, folded to one by the device that the result is on.
#pragma once

#include "registry/variant.hpp"

#include <span>

namespace tilewise::impl::reduce {

/// Where the value of 2^level elements lies.
struct block_place {
  backend::memory where;
  unsigned level;
};

inline constexpr unsigned most_block_places = 64;

/// Enqueues the fold of at least one and at most most_block_places values, in order of position from 0 on, to the
/// result of the reduction `p`.
void fold_blocks_on_cuda(const registry::problem& p, std::span<const block_place> blocks, const backend::memory& result,
                         backend::queue& q);

}  // namespace tilewise::impl::reduce
