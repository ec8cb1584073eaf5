// SPDX-License-Identifier: Apache-2.0
// What the files of reduce_axis on CUDA share.
#pragma once

#include "reduce_axis/reduce_axis_problem.hpp"
#include "registry/variant.hpp"

namespace tilewise::impl::reduce_axis {

/// A warp of columns; fewer lie in tiles that are loaded as they lie in memory.
constexpr std::uint64_t fewest_columns = 32;

void reduce_columns_on_cuda(const registry::problem& p, const registry::bindings& where, backend::queue& q);

inline unsigned groups_for(std::uint64_t wanted) {
  return static_cast<unsigned>(std::min<std::uint64_t>(wanted, std::uint64_t{1} << 30));
}

}  // namespace tilewise::impl::reduce_axis
