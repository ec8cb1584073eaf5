// SPDX-License-Identifier: Apache-2.0
// Whether offsets describe segments.
#pragma once

#include "segment_reduce/problem.hpp"

namespace tilewise::impl::segment_reduce {

/// Throws `invalid_argument`, and names the place, unless the offsets begin with 0, never fall and end with the number
/// of elements, and unless each segment has a value.
void require_segments(const registry::problem& p, std::span<const std::int64_t> offsets);

/// The same for offsets on the queue's device, which are downloaded for it. Waits.
void require_segments_on(const registry::problem& p, const backend::memory& offsets, backend::queue& queue);
/// For offsets in which the device has found a fault: names it.
[[noreturn]] void refuse_offsets(const registry::problem& p, const backend::memory& offsets, backend::queue& queue);

}  // namespace tilewise::impl::segment_reduce
