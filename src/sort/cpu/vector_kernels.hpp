// SPDX-License-Identifier: Apache-2.0
// What vector_kernels.cpp offers for each x86-64 level.
#pragma once

#include "backend/cpu/levels.hpp"
#include "sort/code.hpp"

#include <cstdint>

namespace tilewise::impl::sort {

/// Elements that the sort of n keys works in, beside its output.
constexpr std::uint64_t vector_room(std::uint64_t n) {
  constexpr std::uint64_t largest_block = 256;
  return 2 * largest_block * ((n + largest_block - 1) / largest_block);
}

/// Keys of one tile, whose codes are parted: what comes before the first splitter, then what comes before the next, and
/// so on.
template <class Bits>
struct part_task {
  const Bits* keys;
  std::uint64_t n;
  sort_code<Bits> code;
  const Bits* splitters;  // sorted
  std::uint64_t parts;    // one more than splitters
  Bits* room;             // for 2 n elements
  Bits* out;              // part after part, for sort_parted
  std::uint64_t* sizes;   // of each part
};

/// How each code follows the one before it: not less, not greater, or less.
enum class succession : std::uint8_t { ascending, descending, falling };

template <class Bits>
struct vector_kernels {
  /// Whether the codes of n keys, one at least, follow each other so.
  bool (*succeeds)(const Bits* keys, std::uint64_t n, sort_code<Bits> code, succession what);
  /// Sorts n keys, to where they are or elsewhere. `room`: vector_room(n) elements.
  void (*sort)(const Bits* keys, std::uint64_t n, sort_code<Bits> code, Bits* out, Bits* room);
  /// The same for what `part` has left, which changes on the way, with room for as many. Null, as `part`, at levels
  /// that merge.
  void (*sort_parted)(Bits* codes, Bits* room, std::uint64_t n, sort_code<Bits> code, Bits* out);
  void (*part)(const part_task<Bits>& task);
};

TILEWISE_AT_EACH_LEVEL(template <class Bits> const vector_kernels<Bits>& by_vectors();)

template <class Bits>
const vector_kernels<Bits>& vector_kernels_for(backend::cpu::instruction_set level) {
  return TILEWISE_AT_LEVEL(level, by_vectors<Bits>)();
}

}  // namespace tilewise::impl::sort
