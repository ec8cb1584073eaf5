// SPDX-License-Identifier: Apache-2.0
// What:   a plain copy of a large array: the peak that passes over memory are compared with, and the last step of
//         large downloads.
// Order:  none; bytes as they are.
// Shape:  one slice per thread: prefetched, and stored past the caches, as the scan does.
// Limits: touches nothing outside the two ranges, which must not overlap.
// Twins:  memcpy.
#include "backend/cpu/kernels.hpp"

#include "backend/cpu/vector.hpp"

namespace tilewise::backend::cpu::TILEWISE_LEVEL {

void copy_streaming(char* to, const char* from, std::uint64_t bytes) {
  using word = std::uint32_t;
  constexpr std::uint64_t line = 64, ahead = 8192;  // the distance of blocks.hpp
  const std::uint64_t misaligned = reinterpret_cast<std::uintptr_t>(to) % line;
  const std::uint64_t head = misaligned == 0 ? 0 : line - misaligned < bytes ? line - misaligned : bytes;
  __builtin_memcpy(to, from, head);
  std::uint64_t at = head;
  for (; at + line <= bytes; at += line) {
    if (at + ahead < bytes) __builtin_prefetch(from + at + ahead);
    for (unsigned i = 0; i < line; i += vector_bytes) {
      vector<word> v;
      __builtin_memcpy(&v, from + at + i, sizeof v);
      stream<word>(reinterpret_cast<word*>(to + at + i), v);
    }
  }
  __builtin_memcpy(to + at, from + at, bytes - at);
  _mm_sfence();
}

}  // namespace tilewise::backend::cpu::TILEWISE_LEVEL
