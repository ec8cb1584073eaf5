// SPDX-License-Identifier: Apache-2.0
// The product by Hopper's warpgroups (matmul_cuda_warpgroups_sm90a.cu), which matmul/cuda:tf32 takes for large
// matrices.
#pragma once

#include "backend/cuda/cuda_queue.hpp"
#include "matmul/matmul_problem.hpp"
#include "registry/bindings.hpp"

#include <string>

namespace tilewise::impl::matmul {

/// The tile of a group.
inline constexpr unsigned warpgroups_rows = 256, warpgroups_columns = 128;

#if TILEWISE_WITH_SM90A
/// Why they cannot make this product on this device; empty if they can, where A and B begin at multiples of 16 bytes.
std::string warpgroups_unsupported(const registry::problem& p, const backend::device& on);
void run_warpgroups(const registry::problem& p, const registry::bindings& where, backend::cuda::queue& q);
#else
inline std::string warpgroups_unsupported(const registry::problem&, const backend::device&) {
  return "this build has no code for warpgroups: it was made for no device of compute capability 9.0";
}
inline void run_warpgroups(const registry::problem&, const registry::bindings&, backend::cuda::queue&) {}
#endif

}  // namespace tilewise::impl::matmul
