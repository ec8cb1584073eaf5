// SPDX-License-Identifier: Apache-2.0
// What sort_cpu_vector_kernels.cpp offers for each x86-64 level.
#pragma once

#include "backend/cpu/cpu_levels.hpp"
#include "sort/sort_code.hpp"

namespace tilewise::impl::sort {

/// Elements that the sort of n keys works in, beside its output.
constexpr std::uint64_t vector_room(std::uint64_t n) {
  constexpr std::uint64_t largest_block = 256;
  return 2 * largest_block * ((n + largest_block - 1) / largest_block);
}

template <class Bits>
struct vector_kernels {
  /// Sorts n keys, to where they are or elsewhere. `room`: vector_room(n) elements.
  void (*sort)(const Bits* keys, std::uint64_t n, sort_code<Bits> code, Bits* out, Bits* room);
};

TILEWISE_AT_EACH_LEVEL(template <class Bits> const vector_kernels<Bits>& by_vectors();)

template <class Bits>
const vector_kernels<Bits>& vector_kernels_for(backend::cpu::instruction_set level) {
  return TILEWISE_AT_LEVEL(level, by_vectors<Bits>)();
}

}  // namespace tilewise::impl::sort
