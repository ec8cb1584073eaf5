// SPDX-License-Identifier: Apache-2.0
// What vector_kernels.cpp offers for each x86-64 level.
#pragma once

#include "backend/cpu/levels.hpp"
#include "sort/code.hpp"

#include <cstdint>

namespace tilewise::impl::sort {

/// The workspace, in elements, that the sort of n keys needs besides its output.
constexpr std::uint64_t vector_room(std::uint64_t n) {
  constexpr std::uint64_t largest_block = 256;
  return 2 * largest_block * ((n + largest_block - 1) / largest_block);
}

/// Parts the codes of one tile by splitters: first the codes before the first splitter, then those before the second,
/// and so on.
template <class Bits>
struct part_task {
  const Bits* keys;
  std::uint64_t n;
  sort_code<Bits> code;
  const Bits* splitters;  // sorted
  std::uint64_t parts;    // one more than splitters
  Bits* room;             // workspace of 2 n elements
  Bits* out;              // the parts, one after the other: input of sort_parted
  std::uint64_t* sizes;   // the size of each part
};

/// How each code compares to the one before it: not less, not greater, or less.
enum class succession : std::uint8_t { ascending, descending, falling };

template <class Bits>
struct vector_kernels {
  /// Whether all codes of n > 0 keys follow each other as `what` says.
  bool (*succeeds)(const Bits* keys, std::uint64_t n, sort_code<Bits> code, succession what);
  /// Sorts n keys to `out`, which may be `keys`. `room` is a workspace of vector_room(n) elements.
  void (*sort)(const Bits* keys, std::uint64_t n, sort_code<Bits> code, Bits* out, Bits* room);
  /// Sorts n codes of a part that `part` wrote, and overwrites them. `room` is a workspace of n elements. This and
  /// `part` are null at levels whose vectors cannot part codes; these merge.
  void (*sort_parted)(Bits* codes, Bits* room, std::uint64_t n, sort_code<Bits> code, Bits* out);
  void (*part)(const part_task<Bits>& task);
};

TILEWISE_AT_EACH_LEVEL(template <class Bits> const vector_kernels<Bits>& by_vectors();)

template <class Bits>
const vector_kernels<Bits>& vector_kernels_for(backend::cpu::instruction_set level) {
  return TILEWISE_AT_LEVEL(level, by_vectors<Bits>)();
}

}  // namespace tilewise::impl::sort
