// SPDX-License-Identifier: Apache-2.0
// Numbers that look random, made of numbers that count.
#pragma once

#include <cstdint>

namespace tilewise::base {

/// The finalizer of SplitMix64: Steele, Lea, Flood, Fast splittable pseudorandom number generators, 2014.
constexpr std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
inline constexpr std::uint64_t golden_gamma = 0x9e3779b97f4a7c15u;

}  // namespace tilewise::base
