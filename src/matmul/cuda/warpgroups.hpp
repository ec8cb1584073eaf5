// SPDX-License-Identifier: Apache-2.0
// The product by Hopper's warpgroups (warpgroups_sm90a.cu), which matmul/cuda:tf32 takes wherever it can.
#pragma once

#include "backend/cuda/queue.hpp"
#include "matmul/problem.hpp"
#include "registry/algorithm.hpp"

#include <array>
#include <string>
#include <string_view>

namespace tilewise::impl::matmul {

/// The tiles of a group, by their rows and columns. Functions take a number from 1 on, or 0 for the one that suits the
/// size.
inline constexpr std::array<std::string_view, 6> warpgroup_tiles{"32x64",  "64x64",   "96x64",
                                                                 "128x64", "128x128", "256x128"};

#if TILEWISE_WITH_SM90A
/// Why they cannot make this product on this device; empty if they can, once all rows of A and B begin at multiples of
/// 16 bytes, which `run_warpgroups` takes for granted.
std::string warpgroups_unsupported(const registry::problem& p, unsigned tile, const backend::device& on);
void run_warpgroups(const registry::problem& p, const registry::bindings& where, unsigned tile,
                    backend::cuda::queue& q);
#else
inline std::string warpgroups_unsupported(const registry::problem&, unsigned, const backend::device&) {
  return "this build has no code for warpgroups: it was made for no device of compute capability 9.0";
}
inline void run_warpgroups(const registry::problem&, const registry::bindings&, unsigned, backend::cuda::queue&) {}
#endif

}  // namespace tilewise::impl::matmul
