// SPDX-License-Identifier: Apache-2.0
// Computes the block values of a part of a longer array, and folds such values.
#pragma once

#include "order/segment.hpp"
#include "registry/variant.hpp"

#include <span>

namespace tilewise::impl::reduce {

/// Computes the segment of `values`, which begin at position `begin` of a longer array. Long blocks are computed on the
/// device that the options or the array name. Short blocks are computed on the calling thread, unless the options name
/// a variant or a tuning.
template <scalar T>
order::segment<T> segment_of(std::span<const T> values, std::uint64_t begin, const reduce_options& options);
/// The same for the elements of `values` from index `first` on.
template <scalar T>
order::segment<T> segment_of(const array<T>& values, std::uint64_t first, std::uint64_t begin,
                             const reduce_options& options);

/// Throws `invalid_argument` if `count` elements cannot be appended at `end`, or if the options name an operation other
/// than `own`, the operation of the preceding elements. A sum is the default, so it counts as no operation named.
void require_appendable(op named, op own, std::uint64_t end, std::uint64_t count);

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
