// SPDX-License-Identifier: Apache-2.0
// What:   one step per launch; a group copies its tile with the halo into shared memory.
// Order:  cuda/shared.cuh.
// Shape:  a thread copies one element; those whose whole mask lies within the tile step one.
// Limits: none.
// Twins:  serial.cpp, opencl/tiles.cl.
#include "diffuse/cuda/shared.cuh"
#include "registry/variant.hpp"

namespace tilewise::impl::diffuse {

namespace {

constexpr std::array<unsigned, 3> widths{8, 16, 32};
constexpr std::array<unsigned, 3> heights{8, 16, 32};
constexpr std::array<registry::tuning_axis, 2> axes{{{"width", widths, 32}, {"height", heights, 8}}};

template <class T, mask Mask>
__global__ void tiles(const T* __restrict__ from, T* __restrict__ to, const field<T> f, unsigned across) {
  constexpr int radius = radius_of(Mask);
  __shared__ T tile[32 * 32];
  const int width = static_cast<int>(blockDim.x), height = static_cast<int>(blockDim.y);
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y), here = y * width + x;
  const std::int64_t j = std::int64_t{blockIdx.x / across} * (height - 2 * radius) + y - radius;
  const std::int64_t i = std::int64_t{blockIdx.x % across} * (width - 2 * radius) + x - radius;
  const std::int64_t from_j = f.within(j, f.rows), from_i = f.within(i, f.columns);
  tile[here] = f.in_strip(from_j, from_i) ? T(1) : from[from_j * f.columns + from_i];
  __syncthreads();
  const bool is_inner = x >= radius && x < width - radius && y >= radius && y < height - radius;
  if (is_inner && j < f.rows && i < f.columns)
    to[j * f.columns + i] = order::canonical(
        stepped<Mask, device_arithmetic>(f.w, [&](int dy, int dx) { return tile[here + dy * width + dx]; }));
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning& t, backend::queue& on) {
  const auto [width, height] = t.of(axes);
  auto& q = enter(on);
  if (copies_only(p, where, q)) return;
  const sizes s(p);
  const backend::buffer workspace(q, s.steps > 1 ? s.elements() * size_of(p.type) : 0);
  const std::uint64_t halo = 2 * radius_of(mask_of(p));
  const auto across = static_cast<unsigned>(ceil_div(s.columns, width - halo));
  const auto groups = static_cast<unsigned>(across * ceil_div(s.rows, height - halo));
  with_type_and_mask(p, [&]<class T, mask Mask>(T, mask_constant<Mask>) {
    for (std::uint64_t step = 0; step < s.steps; ++step) {
      const stage now(where, workspace, s.steps, step);
      tiles<T, Mask>
          <<<groups, dim3(width, height), 0, q.stream()>>>(now.from.as<const T>(), now.to.as<T>(), field<T>(p), across);
      TW_CUDA(cudaGetLastError());
    }
  });
}

std::string unsupported(const registry::problem& p, const backend::device&, const registry::tuning& t) {
  const auto [width, height] = t.of(axes);
  const sizes s(p);
  const std::uint64_t halo = 2 * radius_of(mask_of(p));
  return too_many_groups(ceil_div(s.columns, width - halo) * ceil_div(s.rows, height - halo));
}

}  // namespace

registry::variant cuda_tiles_variant() {
  return {.algorithm = "diffuse",
          .backend = "cuda",
          .name = "tiles",
          .types = float_types,
          .source = "HiPerC's tiled convolution: T. Keller, D. Wheeler et al.",
          .tuning = axes,
          .unsupported = unsupported,
          .run = run};
}

}  // namespace tilewise::impl::diffuse
