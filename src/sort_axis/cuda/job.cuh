// SPDX-License-Identifier: Apache-2.0
// The lines of a matrix that kernels sort, wherever they come from.
#pragma once

#include "registry/variant.hpp"
#include "sort/cuda/merge_pass.cuh"
#include "sort_axis/problem.hpp"

namespace tilewise::impl::sort_axis::on_cuda {

using backend::cuda::queue;
using sort::nothing;

template <class Bits>
using tile = sort::on_cuda::merge_tile<Bits, nothing>;
/// Groups that a compute unit must have room for. With one more of 64-bit codes, as merge_tile has it, registers spill.
template <class Tile>
inline constexpr unsigned groups = 1024 / Tile::group_size;

template <class Bits>
struct job {
  const Bits* in;
  Bits* out;
  registry::lines from, to;
  sort::sort_code<Bits> code;
};

}  // namespace tilewise::impl::sort_axis::on_cuda
