// SPDX-License-Identifier: Apache-2.0
// CPU sorts that other code calls: other sorts, sorts along an axis, and calls with a few keys.
#pragma once

#include "backend/cpu/device.hpp"
#include "registry/variant.hpp"
#include "sort/operands.hpp"

namespace tilewise::impl::sort {

/// Up to this many keys are sorted by vectors on the calling thread, without a device, problem or workspace.
inline constexpr std::uint64_t few_keys = 256;
/// `out` may be `in`.
template <class T>
void sort_few(const T* in, T* out, std::uint64_t n, bool descending);

/// The merge sort, with tiles of a power of two.
template <class Bits, class Value>
void sort_by_merging(const sort_task<Bits, Value>& task, std::uint64_t tile, backend::cpu::queue& queue);

/// The radix sort with its usual tuning.
template <class Bits, class Value>
void sort_by_digits(const sort_task<Bits, Value>& task, backend::cpu::queue& queue);

}  // namespace tilewise::impl::sort
