// SPDX-License-Identifier: Apache-2.0
// The product by Hopper's warpgroups (matmul_cuda_warpgroups_sm90a.cu), which matmul/cuda:tf32 takes where it is the
// faster one.
#pragma once

#include "matmul/matmul_cuda.cuh"
#include "registry/bindings.hpp"

#include <string>

namespace tilewise::impl::matmul {

/// The tile of a group: the instruction takes its rows at once, and each warpgroup 64 of its columns.
template <unsigned Speed, unsigned Rows, unsigned Columns, unsigned Groups>
struct warpgroup_shape {
  static constexpr unsigned rows = Rows, columns = Columns, groups_a_unit = Groups, speed = Speed;
};

/// Their speeds are in relation to those of matmul/cuda:tf32's other tiles too.
using warpgroup_shapes =
    tile_shapes<70, warpgroup_shape<51, 64, 64, 2>, warpgroup_shape<56, 64, 128, 1>, warpgroup_shape<72, 128, 64, 1>,
                warpgroup_shape<85, 128, 128, 1>, warpgroup_shape<113, 256, 128, 1>>;

#if TILEWISE_WITH_SM90A
/// Why they cannot make this product on this device, by the tile of this number or with 0 by the fastest; empty if they
/// can, where A and B begin at multiples of 16 bytes.
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
