// SPDX-License-Identifier: Apache-2.0
// What:   convolve/cuda:simple: one thread per result, everything from global memory.
// Order:  each thread's own chain.
// Shape:  groups of 32 columns by 8 rows.
// Limits: fewer than 2^31 groups.
// Twins:  serial.cpp, opencl/simple.cl.
#include "convolve/cuda/shared.cuh"
#include "registry/variant.hpp"

namespace tilewise::impl::convolve {

namespace {

template <class T>
__global__ void simple(const operands<T> o) {
  const tile_place tile = place_of(o, group_rows, group_columns);
  const std::uint64_t i = tile.row + threadIdx.y, j = tile.column + threadIdx.x;
  if (i >= o.result.rows || j >= o.result.columns) return;
  T chain = 0;
  for (std::uint64_t r = 0; r < o.mask.rows; ++r)
    for (std::uint64_t s = 0; s < o.mask.columns; ++s) {
      const std::uint64_t row = i + r - o.above, column = j + s - o.left;  // wraps far beyond the image where negative
      const bool is_there = row < o.image.rows && column < o.image.columns;
      chain = chain + o.weights[r * o.mask.columns + s] * (is_there ? o.x[row * o.image.columns + column] : T(0));
    }
  o.y[i * o.result.columns + j] = order::canonical(chain);
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& on) {
  auto& q = backend::cuda::enter(on);
  with_float(p.type, [&]<class T>(T) {
    const auto groups = static_cast<unsigned>(tiles_of(sizes(p), group_rows, group_columns));
    simple<T><<<groups, dim3(group_columns, group_rows), 0, q.stream()>>>(operands<T>(p, where));
    TW_CUDA(cudaGetLastError());
  });
}

std::string unsupported(const registry::problem& p, const backend::device&, const registry::tuning&) {
  return backend::cuda::too_many_groups(tiles_of(sizes(p), group_rows, group_columns));
}

}  // namespace

registry::variant cuda_simple_variant() {
  return {.algorithm = "convolve",
          .backend = "cuda",
          .name = "simple",
          .types = float_types,
          .source = "the definition, one thread per result",
          .unsupported = unsupported,
          .run = run};
}

}  // namespace tilewise::impl::convolve
