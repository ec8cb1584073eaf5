// SPDX-License-Identifier: Apache-2.0
// The variants on the ranks of a group, one maker for each <method>.cpp.
#pragma once

#include "polymul/problem.hpp"
#include "registry/ranks.hpp"

namespace tilewise::impl::polymul {

registry::variant group_naive_variant();
registry::variant group_karatsuba_variant();
registry::variant group_ntt_variant();

// The ways of group:ntt. On each rank together; there are at least two.

inline constexpr registry::preferences by_ntt{.variant = "ntt"};

/// Each rank a share of the CPU's primes, by its own `ntt`; the residues are combined on the hosts.
void multiply_by_primes(const registry::problem& p, const registry::bindings& where, const registry::rank& r);
/// Why some member cannot; empty if all can.
std::string no_primes(const registry::problem& p, const backend::device& group);

/// Each of the first 2^log_blocks ranks a block of the transforms. All must be CUDA devices that read and write one
/// another's memory.
void multiply_by_blocks(const registry::problem& p, const registry::bindings& where, const registry::rank& r,
                        unsigned log_blocks);

/// The bytes of elements [first, end).
template <class T>
constexpr backend::group::byte_range bytes_of(std::uint64_t first, std::uint64_t end) {
  return {first * sizeof(T), end * sizeof(T)};
}

}  // namespace tilewise::impl::polymul
