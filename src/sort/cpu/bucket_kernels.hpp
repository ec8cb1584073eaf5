// SPDX-License-Identifier: Apache-2.0
// What bucket_kernels.cpp offers for each x86-64 level.
#pragma once

#include "backend/cpu/levels.hpp"
#include "sort/code.hpp"

#include <cstdint>

namespace tilewise::impl::sort {

/// Codes that one worker sorts in its cache.
template <class Bits, class Value>
struct bucket_task {
  elements<Bits, Value> codes;  // overwritten
  elements<Bits, Value> spare;  // workspace of n elements
  elements<Bits, Value> out;
  std::uint64_t n;
  Bits varying;           // all bits in which the codes may differ
  unsigned more_bits;     // how many more leading bits than usual to sort by, before ties are settled
  sort_code<Bits> after;  // decodes output keys
  bool stream;            // write the output past the caches
};

template <class Bits, class Value>
struct bucket_kernels {
  /// Returns false if the leading bits told too few codes apart, so that the codes had to be sorted again by all bits.
  bool (*sort)(const bucket_task<Bits, Value>& task);
};

TILEWISE_AT_EACH_LEVEL(template <class Bits, class Value> const bucket_kernels<Bits, Value>& of_buckets();)

template <class Bits, class Value>
const bucket_kernels<Bits, Value>& bucket_kernels_for(backend::cpu::instruction_set level) {
  return TILEWISE_AT_LEVEL(level, of_buckets<Bits, Value>)();
}

}  // namespace tilewise::impl::sort
