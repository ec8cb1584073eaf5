// SPDX-License-Identifier: Apache-2.0
// What:   convolve/cuda:blocks: which problems go to the kernels of blocks.cuh.
// Order:  one chain per result.
// Shape:  4 rows of 16 bytes of results per thread.
// Limits: square masks of 3, 5, 7 and 9 rows.
// Twins:  serial.cpp, opencl/blocks.cpp.
#include "convolve/cuda/blocks.cuh"

#include "registry/variant.hpp"

namespace tilewise::impl::convolve {

namespace {

using registry::problem;

std::uint64_t tiles_of(const problem& p) {
  return with_float(p.type, [&]<class T>(T) { return block_tile<T>::tiles(sizes(p)); });
}

std::string unsupported(const problem& p, const backend::device&, const registry::tuning&) {
  if (std::string why = not_unrolled(sizes(p).mask); !why.empty()) return why;
  return backend::cuda::too_many_groups(tiles_of(p));
}

std::string yields(const problem& p, const backend::device& on) {
  if (std::string why = rows_are_not_packs(p); !why.empty()) return why;
  if (p.type == dtype::f64 && unrolled_rows(sizes(p).mask) < 9) return "tiles is faster for doubles and such masks";
  return tiles_of(p) < on.info().compute_units ? "tiles is faster while there is not a tile for each compute unit" : "";
}

}  // namespace

void run_blocks(const problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& on) {
  auto& q = backend::cuda::enter(on);
  with_float(p.type, [&]<class T>(T) {
    const operands<T> o(p, where);
    const auto groups = static_cast<unsigned>(block_tile<T>::tiles(o));
    with_unrolled(
        o.mask, [&]<unsigned Mask> { blocks<Mask, T><<<groups, dim3(group_columns, group_rows), 0, q.stream()>>>(o); });
    TW_CUDA(cudaGetLastError());
  });
}

registry::variant cuda_blocks_variant() {
  return {.algorithm = "convolve",
          .backend = "cuda",
          .name = "blocks",
          .types = float_types,
          .source = "the definition, unrolled; neighbours of a pixel through the first-level cache",
          .unsupported = unsupported,
          .yields = yields,
          .run = run_blocks};
}

}  // namespace tilewise::impl::convolve
