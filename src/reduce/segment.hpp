// SPDX-License-Identifier: Apache-2.0
// The values of the blocks of an array that lies at some position of a longer one.
#pragma once

#include "order/segment.hpp"

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

}  // namespace tilewise::impl::reduce
