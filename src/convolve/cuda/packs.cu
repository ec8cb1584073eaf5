// SPDX-License-Identifier: Apache-2.0
// What:   convolve/cuda:packs: which tile of packs.cuh handles which problem.
// Order:  one chain per result.
// Shape:  2 rows per thread of one pack of columns, or 4 of two where every other compute unit has such a tile.
// Limits: shared memory for a tile, its halo and the mask.
// Twins:  serial.cpp, opencl/tiles.cl.
#include "convolve/cuda/packs.cuh"

#include "backend/cuda/queue.hpp"
#include "registry/variant.hpp"

namespace tilewise::impl::convolve {

namespace {

using registry::problem;
using registry::tuning;

/// Rows and packs of columns of a thread.
constexpr std::array<unsigned, 3> tile_values{0, 1, 2};
constexpr std::array<std::string_view, 3> tile_words{"auto", "2x1", "4x2"};
constexpr std::array<registry::tuning_axis, 1> axes{{{"tile", tile_values, 0, tile_words}}};

/// Calls `f` with a T and the tile with this number in tile_words.
template <class F>
void with_shape(dtype type, unsigned tile, F&& f) {
  with_float(type, [&]<class T>(T) {
    if (tile == 2) f(T{}, pack_shape<T, 4, 2>{});
    if (tile == 1) f(T{}, pack_shape<T, 2, 1>{});
  });
}

struct needs {
  std::uint64_t tiles, shared_bytes;
};

needs needs_of(unsigned tile, const problem& p) {
  const sizes s(p);
  needs found{};
  with_shape(p.type, tile, [&]<class T, class Shape>(T, Shape) {
    found = {tiles_of(s, Shape::tile_rows, Shape::tile_columns), Shape::shared_bytes(s)};
  });
  return found;
}

/// On an H200, which has 132 compute units, the large tile was faster from 128 tiles on, and slower with 32.
unsigned tile_for(const problem& p, const device_info& on, const tuning& t) {
  const auto [wanted] = t.of(axes);
  if (wanted != 0) return wanted;
  const needs large = needs_of(2, p);
  return large.tiles >= on.compute_units / 2 && large.shared_bytes <= on.local_memory ? 2 : 1;
}

void run(const problem& p, const registry::bindings& where, const tuning& t, backend::queue& on) {
  auto& q = backend::cuda::enter(on);
  const unsigned tile = tile_for(p, q.device().info(), t);
  const needs n = needs_of(tile, p);
  with_shape(p.type, tile, [&]<class T, unsigned Rows, unsigned Packs>(T, pack_shape<T, Rows, Packs>) {
    const auto kernel = packs<Rows, Packs, T>;
    backend::cuda::allow_shared_memory(kernel, q);
    kernel<<<static_cast<unsigned>(n.tiles), dim3(group_columns, group_rows), n.shared_bytes, q.stream()>>>(
        operands<T>(p, where));
    TW_CUDA(cudaGetLastError());
  });
}

std::string unsupported(const problem& p, const backend::device& on, const tuning& t) {
  const needs n = needs_of(tile_for(p, on.info(), t), p);
  if (std::string why = too_much_shared(n.shared_bytes, on.info()); !why.empty()) return why;
  return backend::cuda::too_many_groups(n.tiles);
}

std::string yields(const problem& p, const backend::device&) {
  return unrolled_rows(sizes(p).mask) != 0 ? "tiles is faster with masks whose loops it has unrolled" : "";
}

}  // namespace

registry::variant cuda_packs_variant() {
  return {.algorithm = "convolve",
          .backend = "cuda",
          .name = "packs",
          .types = float_types,
          .source = "a tile and its halo in shared memory: Podlozhnyuk, Image Convolution with CUDA, 2007",
          .tuning = axes,
          .unsupported = unsupported,
          .yields = yields,
          .run = run};
}

}  // namespace tilewise::impl::convolve
