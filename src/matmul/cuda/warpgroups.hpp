// SPDX-License-Identifier: Apache-2.0
// The product with Hopper's warpgroup instructions (warpgroups_sm90a.cu). matmul/cuda:tf32 uses it wherever it can.
#pragma once

#include "backend/cuda/queue.hpp"
#include "matmul/problem.hpp"
#include "registry/algorithm.hpp"

#include <array>
#include <string>
#include <string_view>

namespace tilewise::impl::matmul {

/// The tiles of a work-group, as rows x columns. The parameter `tile` below is a number in this list, from 1 on, or 0
/// for the tile that suits the size.
inline constexpr std::array<std::string_view, 6> warpgroup_tiles{"32x64",  "64x64",   "96x64",
                                                                 "128x64", "128x128", "256x128"};

#if TILEWISE_WITH_SM90A
/// Why warpgroups cannot compute this product on this device; empty if they can. Does not check what `run_warpgroups`
/// requires too: every row of A and B begins at a multiple of 16 bytes.
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
