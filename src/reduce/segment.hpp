// SPDX-License-Identifier: Apache-2.0
// Computes the block values of a part of a longer array, and folds such values.
#pragma once

#include "order/segment.hpp"
#include "registry/choose.hpp"

#include <tilewise/call.hpp>

#include <span>

namespace tilewise::impl::reduce {

/// Computes the segment of an operand that begins at position `begin` of a longer array. Long blocks are computed on
/// the operand's device; those of host memory on `on`, or on the CPU if that is null. Short blocks are computed on the
/// calling thread, unless a variant or a tuning is named.
template <scalar T>
order::segment<T> segment_of(const detail::argument& values, std::uint64_t begin, op operation,
                             const device* on = nullptr, const registry::preferences& wanted = {});

/// Throws `invalid_argument` if `count` elements cannot be appended at `end`.
void require_appendable(std::uint64_t end, std::uint64_t count);

/// The location of the value of one block, which has 2^level elements.
struct block_place {
  backend::memory where;
  unsigned level;
};

inline constexpr unsigned most_block_places = 64;

/// Enqueues the fold of the values of `blocks` and writes the result of the reduction `p` to `result`. The blocks are
/// in order of position, from 0 on; there are 1 to most_block_places of them. Their values may lie on several devices;
/// the device of `result` folds them.
void fold_blocks_on_cuda(const registry::problem& p, std::span<const block_place> blocks, const backend::memory& result,
                         backend::queue& q);

}  // namespace tilewise::impl::reduce
