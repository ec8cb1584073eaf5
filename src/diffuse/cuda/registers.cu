// SPDX-License-Identifier: Apache-2.0
// What:   diffuse/cuda:registers: the tiles of a launch, and several steps in each launch.
// Order:  shared.cuh.
// Shape:  tiles are of one size and overlap by what their steps use up; the last one of a row or column of tiles ends
//         with the field. Small tiles share a small field among more multiprocessors. All launches of a call have about
//         as many steps. Fields alternate between the result and a workspace.
// Limits: fields that are no smaller than a tile; 65535 rows of tiles.
// Twins:  serial.cpp, opencl/registers.cpp.
#include "backend/cuda/queue.hpp"
#include "diffuse/cuda/registers.cuh"
#include "registry/variant.hpp"

namespace tilewise::impl::diffuse {

namespace {

/// Steps per launch with masks of radius 1. Masks of radius 2 take half as many, so that the halo is the same.
constexpr std::array<unsigned, 6> depths{2, 4, 6, 8, 12, 16};
constexpr std::array<unsigned, 5> tile_values{0, 1, 2, 3, 4};
constexpr std::array<std::string_view, 5> tile_words{"auto", "small", "middle", "large", "tall"};
constexpr std::array<registry::tuning_axis, 2> axes{{{"tile", tile_values, 0, tile_words}, {"steps", depths, 8}}};

/// Calls f(shape{}) with the shape that a word names. Sizes do not depend on the type. Doubles need more registers, so
/// they take more warps or fewer groups at a time.
template <class T, class F>
void with_shape(unsigned tile, const F& f) {
  constexpr bool is_wide = sizeof(T) == 8;
  switch (tile) {
    case 1: return f(register_shape < 2, 4, 16, is_wide ? 1 : 2 > {});
    case 2: return f(register_shape < 4, 8, 8, is_wide ? 2 : 3 > {});
    case 3: return f(std::conditional_t<is_wide, register_shape<4, 6, 16, 1>, register_shape<4, 8, 12, 2>>{});
    default: return f(std::conditional_t<is_wide, register_shape<4, 8, 16, 1>, register_shape<4, 16, 8, 2>>{});
  }
}

/// The tiles that a problem is cut into.
struct tiling {
  unsigned tile;
  std::uint64_t width = 0, height = 0, room = 0;  // bytes of shared memory

  tiling(const registry::problem& p, unsigned tile_) : tile(tile_) {
    with_float(p.type, [&]<class T>(T) {
      with_shape<T>(tile, [&]<class Shape>(Shape) {
        width = Shape::width;
        height = Shape::height;
        room = register_bytes<Shape>(radius_of(mask_of(p)), sizeof(T));
      });
    });
  }
  bool holds(const sizes& s) const { return s.columns >= width && s.rows >= height; }
  std::uint64_t across(const sizes& s, std::uint64_t margin) const { return tiles_along(s.columns, width, margin); }
  std::uint64_t down(const sizes& s, std::uint64_t halo) const { return tiles_along(s.rows, height, halo); }
};

/// The most steps of a launch.
std::uint64_t depth_of(const registry::problem& p, const registry::tuning& t) {
  const auto [tile, steps] = t.of(axes);
  return steps / radius_of(mask_of(p));
}

/// The halo rounded up to whole packs, so that a tile owns each pack of a row either completely or not at all.
std::uint64_t margin_of(std::uint64_t halo, std::uint64_t pack) { return ceil_div(halo, pack) * pack; }

/// Chooses the tiles. "auto" takes the smallest tiles whose number does not exceed that of multiprocessors; if none are
/// so few, the tiles of which a multiprocessor has room for two groups.
tiling tiling_of(const registry::problem& p, const device_info& on, const registry::tuning& t) {
  const auto [tile, steps] = t.of(axes);
  if (tile != 0) return {p, tile};
  const sizes s(p);
  const std::uint64_t halo = depth_of(p, t) * radius_of(mask_of(p)), margin = margin_of(halo, 16 / size_of(p.type));
  for (const unsigned index : {1u, 3u, 4u}) {
    const tiling tiled(p, index);
    if (tiled.holds(s) && tiled.across(s, margin) * tiled.down(s, halo) <= on.compute_units) return tiled;
  }
  const unsigned usual = p.type == dtype::f64 ? 2 : 3;
  for (const unsigned index : {usual, 2u})
    if (const tiling tiled(p, index); tiled.holds(s)) return tiled;
  return {p, 1};
}

template <class T, mask Mask, class Shape>
void launch_passes(const registry::problem& p, const registry::bindings& where, const tiling& tiled,
                   std::uint64_t depth, queue& q) {
  const auto kernel = steps_in_registers<T, Mask, Shape>;
  const sizes s(p);
  const field<T> f(p);
  const std::uint64_t passes = ceil_div(s.steps, depth);
  const backend::buffer workspace(q, passes > 1 ? s.elements() * sizeof(T) : 0);
  allow_shared_memory(kernel, q);
  std::uint64_t left = s.steps;
  for (std::uint64_t i = 0; i < passes; ++i) {
    const stage now(where, workspace, passes, i);
    const T* const from = now.from.as<const T>();
    T* const to = now.to.as<T>();
    const std::uint64_t steps = ceil_div(left, passes - i), halo = steps * radius_of(Mask);
    const bool packed = is_packed(from, to, s.columns);
    const std::uint64_t margin = packed ? margin_of(halo, pack_length<T>) : halo;
    cudaLaunchConfig_t how{};
    how.gridDim = dim3(static_cast<unsigned>(tiled.across(s, margin)), static_cast<unsigned>(tiled.down(s, halo)));
    how.blockDim = Shape::warps * warp_size;
    how.dynamicSmemBytes = tiled.room;
    launch_in_chain(i == 0, kernel, how, q, from, to, f,
                    tile_pass{static_cast<unsigned>(steps), static_cast<int>(margin), static_cast<int>(halo), packed});
    left -= steps;
  }
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning& t, backend::queue& on) {
  auto& q = enter(on);
  if (copies_only(p, where, q)) return;
  const tiling tiled = tiling_of(p, q.device().info(), t);
  with_type_and_mask(p, [&]<class T, mask Mask>(T, mask_constant<Mask>) {
    with_shape<T>(tiled.tile,
                  [&]<class Shape>(Shape) { launch_passes<T, Mask, Shape>(p, where, tiled, depth_of(p, t), q); });
  });
}

std::string unsupported(const registry::problem& p, const backend::device& on, const registry::tuning& t) {
  const sizes s(p);
  const tiling tiled = tiling_of(p, on.info(), t);
  if (!tiled.holds(s))
    return "the field is smaller than a tile of " + std::to_string(tiled.height) + "x" + std::to_string(tiled.width) +
           " elements";
  if (s.rows > 0x7fffffff || s.columns > 0x7fffffff) return "its rows and columns are counted in 31 bits";
  const std::uint64_t halo = depth_of(p, t) * radius_of(mask_of(p));
  if (tiled.down(s, halo) > 65535) return "a launch has up to 65535 rows of tiles";
  return tiled.room <= on.info().local_memory ? "" : "its rows do not fit the shared memory of " + on.info().name;
}

/// Whether `resident` is faster: for sizes where its steps take less time on an H200, and with enough steps to make up
/// for its startup.
bool suits_resident(const registry::problem& p) {
  const sizes s(p);
  const std::uint64_t n = s.elements();
  if (p.type == dtype::f32) return n > 1 << 17 && n <= 3 << 17 && s.steps >= 256;
  const bool is_small = n <= 3 << 15, is_middle = n > 1 << 18 && n <= 1 << 20;  // between them each tile has a unit
  return (is_small || is_middle) && s.steps >= std::max<std::uint64_t>(32, n >> 14);
}

std::string yields(const registry::problem& p, const backend::device& on) {
  const sizes s(p);
  const bool is_large_f64 = p.type == dtype::f64 && s.elements() > 1 << 18;
  if (s.steps <= (is_large_f64 ? 2 : 1)) return "temporal is faster for so few steps";
  return suits_resident(p) && resident_takes(p, on) ? "resident is faster for so many steps of such a field" : "";
}

}  // namespace

registry::variant cuda_registers_variant() {
  return {.algorithm = "diffuse",
          .backend = "cuda",
          .name = "registers",
          .types = float_types,
          .source =
              "L. Zhang et al., PERKS: a locality-optimized execution model for iterative memory-bound GPU "
              "applications (2023), with a launch for each exchange",
          .tuning = axes,
          .unsupported = unsupported,
          .yields = yields,
          .run = run};
}

}  // namespace tilewise::impl::diffuse
