// SPDX-License-Identifier: Apache-2.0
// What:   convolve/cuda:tiles: which tile and which kernel of tiles.cuh handle which problem.
// Order:  one chain per result.
// Shape:  2, 4 or 8 rows per thread: as many as leave every compute unit some tiles.
// Limits: shared memory for a tile, its halo and the mask.
// Twins:  serial.cpp, opencl/tiles.cl.
#include "convolve/cuda/tiles.cuh"

#include "registry/variant.hpp"

namespace tilewise::impl::convolve {

namespace {

using registry::problem;
using registry::tuning;

/// Calls `f` with a T and the tile for this many rows per thread.
template <class F>
void with_shape(dtype type, unsigned rows, F&& f) {
  with_float(type, [&]<class T>(T) {
    if (rows == 8) f(T{}, tile_shape<T, 8>{});
    if (rows == 4) f(T{}, tile_shape<T, 4>{});
    if (rows == 2) f(T{}, tile_shape<T, 2>{});
  });
}

std::string reason_against(unsigned rows, const problem& p, const device_info& on) {
  const sizes s(p);
  std::string reason;
  with_shape(p.type, rows, [&]<class T, class Shape>(T, Shape) {
    reason = too_much_shared(Shape::shared_bytes(s), on);
    if (reason.empty()) reason = backend::cuda::too_many_groups(tiles_of(s, Shape::tile_rows, Shape::tile_columns));
  });
  return reason;
}

unsigned rows_for(const problem& p, const device_info& on, const tuning& t) {
  const auto tiles = [&](unsigned rows) {
    std::uint64_t count = 0;
    with_shape(p.type, rows, [&]<class T, class Shape>(T, Shape) {
      count = tiles_of(sizes(p), Shape::tile_rows, Shape::tile_columns);
    });
    return count;
  };
  return choose_rows(t, on, tiles, [&](unsigned rows) { return reason_against(rows, p, on); });
}

template <unsigned Mask, unsigned Rows, class T>
void launch(const operands<T>& o, backend::cuda::queue& q) {
  using shape = tile_shape<T, Rows>;
  const auto bytes = static_cast<int>(shape::shared_bytes(o));
  const auto kernel = tiles<Rows, Mask, T>;
  TW_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  const auto groups = static_cast<unsigned>(tiles_of(o, shape::tile_rows, shape::tile_columns));
  kernel<<<groups, dim3(group_columns, group_rows), bytes, q.stream()>>>(o);
  TW_CUDA(cudaGetLastError());
}

void run(const problem& p, const registry::bindings& where, const tuning& t, backend::queue& on) {
  auto& q = backend::cuda::enter(on);
  with_shape(p.type, rows_for(p, q.device().info(), t), [&]<class T, unsigned Rows>(T, tile_shape<T, Rows>) {
    const operands<T> o(p, where);
    with_unrolled(o.mask, [&]<unsigned Mask> { launch<Mask, Rows>(o, q); });
  });
}

std::string unsupported(const problem& p, const backend::device& on, const tuning& t) {
  if (std::string why = not_unrolled(sizes(p).mask); !why.empty()) return why;
  return reason_against(rows_for(p, on.info(), t), p, on.info());
}

}  // namespace

registry::variant cuda_tiles_variant() {
  return {.algorithm = "convolve",
          .backend = "cuda",
          .name = "tiles",
          .types = float_types,
          .source = "a tile and its halo in shared memory: Podlozhnyuk, Image Convolution with CUDA, 2007",
          .tuning = row_axes,
          .unsupported = unsupported,
          .run = run};
}

}  // namespace tilewise::impl::convolve
