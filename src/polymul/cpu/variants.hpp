// SPDX-License-Identifier: Apache-2.0
// The variants on the CPU, one maker for each <method>.cpp.
#pragma once

#include "backend/cpu/device.hpp"
#include "polymul/problem.hpp"
#include "registry/variant.hpp"

namespace tilewise::impl::polymul {

/// The coefficients in lanes of another type, followed by zeros up to `room` lanes.
template <class T, class Lane>
void widen(const T* from, std::uint64_t count, Lane* to, std::uint64_t room) {
  for (std::uint64_t i = 0; i < count; ++i) to[i] = static_cast<Lane>(from[i]);
  std::fill(to + count, to + room, Lane(0));
}

registry::variant cpu_naive_variant();
registry::variant cpu_karatsuba_variant();
registry::variant cpu_ntt_variant();

}  // namespace tilewise::impl::polymul
