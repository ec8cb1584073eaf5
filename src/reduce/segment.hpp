// SPDX-License-Identifier: Apache-2.0
// The values of the blocks of an array that lies at some position of a longer one, and the fold of such values.
#pragma once

#include "order/segment.hpp"
#include "registry/variant.hpp"

#include <span>

namespace tilewise::impl::reduce {

/// The segment of the values, the first of which has the position `begin`. Where the options name neither variant nor
/// tuning, short blocks are computed on the calling thread, and all others where the options or the array say.
template <scalar T>
order::segment<T> segment_of(std::span<const T> values, std::uint64_t begin, const reduce_options& options);
/// The same of the values from index `first` on.
template <scalar T>
order::segment<T> segment_of(const array<T>& values, std::uint64_t first, std::uint64_t begin,
                             const reduce_options& options);

/// Throws `invalid_argument` if `count` elements cannot be appended at `end`, or if options name an operation other
/// than `own`, that of what precedes them. Naming a sum, which options do by default, is naming none.
void require_appendable(op named, op own, std::uint64_t end, std::uint64_t count);

/// Where the value of 2^level elements lies.
struct block_place {
  backend::memory where;
  unsigned level;
};

inline constexpr unsigned most_block_places = 64;

/// Where the values lie may be several devices; the result's device folds. Enqueues the fold of at least one and at
/// most most_block_places values, in order of position from 0 on, to the result of the reduction `p`.
void fold_blocks_on_cuda(const registry::problem& p, std::span<const block_place> blocks, const backend::memory& result,
                         backend::queue& q);

}  // namespace tilewise::impl::reduce
