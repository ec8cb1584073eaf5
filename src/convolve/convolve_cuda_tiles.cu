// SPDX-License-Identifier: Apache-2.0
// What:   convolve/cuda:tiles: which tile and which kernel of convolve_cuda_tiles.cuh handle which problem.
// Order:  one chain per result.
// Shape:  4 rows per thread of one pack of columns, or 2 of one or 4 of two: as many as leave each compute unit a tile.
// Limits: shared memory for a tile, its halo and the mask.
// Twins:  convolve_serial.cpp, convolve_tiles.cl.
#include "convolve/convolve_cuda_tiles.cuh"

#include "convolve/convolve_cuda.hpp"

namespace tilewise::impl::convolve {

namespace {

using registry::problem;
using registry::tuning;

/// Rows and packs of columns of a thread.
constexpr std::array<unsigned, 4> tile_values{0, 1, 2, 3};
constexpr std::array<std::string_view, 4> tile_words{"auto", "2x1", "4x1", "4x2"};
constexpr std::array<registry::tuning_axis, 1> axes{{{"tile", tile_values, 0, tile_words}}};

/// Calls `f` with a T and the tile with this number in tile_words.
template <class F>
void with_shape(dtype type, unsigned tile, F&& f) {
  with_float(type, [&]<class T>(T) {
    if (tile == 3) f(T{}, tile_shape<T, 4, 2>{});
    if (tile == 2) f(T{}, tile_shape<T, 4, 1>{});
    if (tile == 1) f(T{}, tile_shape<T, 2, 1>{});
  });
}

std::string reason_against(unsigned tile, const problem& p, const device_info& on) {
  const sizes s(p);
  std::string reason;
  with_shape(p.type, tile, [&]<class T, class Shape>(T, Shape) {
    reason = backend::cuda::too_many_groups(Shape::tiles(s));
    if (const std::uint64_t bytes = Shape::shared_bytes(s); bytes > on.local_memory)
      reason = "a group needs " + std::to_string(bytes) + " bytes of shared memory and " + on.name + " has " +
               std::to_string(on.local_memory);
  });
  return reason;
}

/// With unrolled masks, two packs were slower than one at each size on an H200. With others each weight that is read
/// serves twice as many results, which pays if there is a tile for each compute unit.
unsigned tile_for(const problem& p, const device_info& on, const tuning& t) {
  const auto [wanted] = t.of(axes);
  if (wanted != 0) return wanted;
  const sizes s(p);
  if (unrolled_rows(s.mask) != 0) return 2;
  for (const unsigned tile : {3u, 2u}) {
    bool is_enough = false;
    with_shape(p.type, tile, [&]<class T, class Shape>(T, Shape) { is_enough = Shape::tiles(s) >= on.compute_units; });
    if (is_enough && reason_against(tile, p, on).empty()) return tile;
  }
  return 1;
}

template <unsigned Mask, class T, unsigned Rows, unsigned Packs>
void launch(const operands<T>& o, tile_shape<T, Rows, Packs>, backend::cuda::queue& q) {
  using shape = tile_shape<T, Rows, Packs>;
  const auto bytes = static_cast<int>(shape::shared_bytes(o));
  const auto kernel = tiles<Mask, Rows, Packs, T>;
  TW_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  kernel<<<static_cast<unsigned>(shape::tiles(o)), dim3(group_columns, group_rows), bytes, q.stream()>>>(o);
  TW_CUDA(cudaGetLastError());
}

void run(const problem& p, const registry::bindings& where, const tuning& t, backend::queue& on) {
  auto& q = backend::cuda::enter(on);
  with_shape(p.type, tile_for(p, q.device().info(), t), [&]<class T, class Shape>(T, Shape shape) {
    const operands<T> o(p, where);
    switch (unrolled_rows(o.mask)) {
      case 3: return launch<3>(o, shape, q);
      case 5: return launch<5>(o, shape, q);
      case 7: return launch<7>(o, shape, q);
      case 9: return launch<9>(o, shape, q);
      default: return launch<0>(o, shape, q);
    }
  });
}

std::string unsupported(const problem& p, const backend::device& on, const tuning& t) {
  return reason_against(tile_for(p, on.info(), t), p, on.info());
}

}  // namespace

registry::variant cuda_tiles_variant() {
  return {.algorithm = "convolve",
          .backend = "cuda",
          .name = "tiles",
          .types = float_types,
          .source = "a tile and its halo in shared memory: Podlozhnyuk, Image Convolution with CUDA, 2007",
          .tuning = axes,
          .unsupported = unsupported,
          .run = run};
}

}  // namespace tilewise::impl::convolve
