// SPDX-License-Identifier: Apache-2.0
// What:   reading the same memory again and again: the peak bandwidth of a cache or of memory.
// Order:  none; words are combined by exclusive or, which is faster than any memory.
// Shape:  eight vectors at a time, whose loads do not wait for each other.
// Limits: bytes after the last whole eight vectors of the widest instruction set are not read.
// Twins:  opencl/read.cl, cuda/roofs.cu.
#include "backend/cpu/kernels.hpp"

#include "backend/cpu/vector.hpp"

namespace tilewise::backend::cpu::TILEWISE_LEVEL {

std::uint64_t read_again(const char* from, std::uint64_t bytes, std::uint64_t passes) {
  using word = std::uint64_t;
  constexpr std::uint64_t at_once = 8, line = at_once * 64;
  vector<word> seen[at_once] = {};
  for (std::uint64_t pass = 0; pass < passes; ++pass) {
    for (std::uint64_t at = 0; at + line <= bytes; at += line)
      for (std::uint64_t part = 0; part < line; part += at_once * vector_bytes)
#pragma GCC unroll 8
        for (std::uint64_t i = 0; i < at_once; ++i)
          seen[i] ^= load<word>(reinterpret_cast<const word*>(from + at + part + i * vector_bytes));
    asm volatile("" ::: "memory");  // otherwise a compiler could deduce that an even number of passes gives zero
  }
  word all = 0;
  for (const vector<word>& s : seen)
    for (unsigned lane = 0; lane < lanes<word>; ++lane) all ^= s[lane];
  return all;
}

}  // namespace tilewise::backend::cpu::TILEWISE_LEVEL
