// SPDX-License-Identifier: Apache-2.0
// What:   diffuse/opencl:registers: the tiles of a launch, and several steps in each launch.
// Order:  program.cl.
// Shape:  tiles are of one size and overlap by the halo of their steps; the last one of a row or column ends with the
//         field. Small tiles share a small field among more compute units. Fields alternate between the result and a
//         workspace.
// Limits: fields that are no smaller than a tile; fewer than 2^31 rows, columns and tiles.
// Twins:  serial.cpp, cuda/registers.cu.
#include "diffuse/opencl/shared.hpp"

namespace tilewise::embedded {
extern const std::string_view diffuse_registers_cl;
}

namespace tilewise::impl::diffuse {

namespace {

using backend::buffer;
using registry::problem;
using registry::tuning;

/// Steps per launch with masks of radius 1. Masks of radius 2 take half as many, so that the halo is the same.
constexpr std::array<unsigned, 3> depths{2, 4, 8};
constexpr std::array<unsigned, 4> shape_values{0, 1, 2, 3};
constexpr std::array<std::string_view, 4> shape_words{"auto", "small", "middle", "large"};
constexpr std::array<registry::tuning_axis, 2> axes{{{"tile", shape_values, 0, shape_words}, {"steps", depths, 8}}};

/// TW_COLUMNS, TW_HELD and TW_WARPS in registers.cl.
struct tile_shape {
  unsigned columns, held, warps;

  std::uint64_t width() const { return 32 * columns; }
  std::uint64_t height() const { return std::uint64_t{held} * warps; }
};

/// Wider masks need more rows in registers, which leaves fewer for the tile.
constexpr std::array<tile_shape, 3> shapes{{{2, 4, 16}, {4, 8, 8}, {4, 8, 12}}};
constexpr std::array<tile_shape, 3> shapes_of_cross{{{2, 4, 16}, {2, 8, 8}, {2, 8, 16}}};

struct plan {
  tile_shape shape;
  std::uint64_t depth, halo;

  bool holds(const sizes& s) const { return s.columns >= shape.width() && s.rows >= shape.height(); }
  std::uint64_t across(const sizes& s) const { return tiles_along(s.columns, shape.width(), halo); }
  std::uint64_t down(const sizes& s) const { return tiles_along(s.rows, shape.height(), halo); }
};

plan with_shape(const problem& p, const tuning& t, unsigned index) {
  const auto [tile, steps] = t.of(axes);
  const unsigned radius = radius_of(mask_of(p));
  return {radius == 1 ? shapes[index] : shapes_of_cross[index], steps / radius, std::uint64_t{steps} / radius * radius};
}

std::string definitions(const problem& p, const tile_shape& shape) {
  return opencl_definitions(p) + " -DTW_COLUMNS=" + std::to_string(shape.columns) +
         " -DTW_HELD=" + std::to_string(shape.held) + " -DTW_WARPS=" + std::to_string(shape.warps);
}

/// The local memory for the rows that warps share and, if the device has no shuffles, for what work-items pass to their
/// neighbours.
std::uint64_t local_bytes(const problem& p, const tile_shape& shape) {
  const std::uint64_t radius = radius_of(mask_of(p)), items = 32 * shape.warps;
  return (2 * radius * shape.warps * shape.width() + 4 * radius * items) * size_of(p.type) + sizeof(std::int32_t);
}
bool fits(const problem& p, const device_info& on, const tile_shape& shape) {
  return backend::opencl::too_large(on, 32 * shape.warps, local_bytes(p, shape)).empty();
}

/// Chooses the tiles. "auto" takes the smallest tiles whose number does not exceed that of compute units; if none are
/// so few, the tiles of which a compute unit holds two groups.
plan plan_for(const problem& p, const device_info& on, const tuning& t) {
  const auto [tile, steps] = t.of(axes);
  if (tile != 0) return with_shape(p, t, tile - 1);
  const sizes s(p);
  for (const unsigned index : {0u, 2u}) {
    const plan tiled = with_shape(p, t, index);
    if (index == 2 && !fits(p, on, tiled.shape)) continue;
    if (tiled.holds(s) && tiled.across(s) * tiled.down(s) <= on.compute_units) return tiled;
  }
  const plan usual = with_shape(p, t, 1);
  return usual.holds(s) ? usual : with_shape(p, t, 0);
}

/// The fields of tw_weights.
template <class T>
struct weights_and_scaled {
  weights<T> plain;
  T scaled_rate;
};

bool is_packed(const problem& p, const registry::bindings& where, std::uint64_t halo) {
  const std::uint64_t pack = 16 / size_of(p.type);
  return (sizes(p).columns | halo) % pack == 0 && (where.in[0].offset | where.out[0].offset) % 16 == 0;
}

void run(const problem& p, const registry::bindings& where, const tuning& t, backend::queue& on) {
  auto& queue = static_cast<backend::opencl::queue&>(on);
  if (copies_only(p, where, queue)) return;
  const plan tiled = plan_for(p, queue.device().info(), t);
  auto& program = queue.program(embedded::diffuse_registers_cl, definitions(p, tiled.shape));
  const sizes s(p);
  const std::size_t size = size_of(p.type);
  const std::uint64_t passes = ceil_div(s.steps, tiled.depth);
  const buffer workspace(queue, passes > 1 ? s.elements() * size : 0);
  const auto word = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
  with_float(p.type, [&]<class T>(T) {
    const weights<T> w = weights_in<T>(p);
    const weights_and_scaled<T> both{w, scaled_weights(w).rate};
    for (std::uint64_t i = 0; i < passes; ++i) {
      const stage now(where, workspace, passes, i);
      const std::uint64_t steps = std::min(tiled.depth, s.steps - i * tiled.depth);
      const plan pass{tiled.shape, steps, steps * radius_of(mask_of(p))};
      queue.launch_tiles(program.kernel("tw_steps_in_registers"), pass.across(s) * pass.down(s),
                         backend::opencl::group_shape(32, pass.shape.warps), now.from, now.from.offset / size, now.to,
                         now.to.offset / size, word(s.rows), word(s.columns), word(s.half()), word(pass.across(s)),
                         word(pass.down(s)), word(steps), std::uint32_t{can_scale(mask_of(p), w)},
                         std::uint32_t{is_packed(p, where, pass.halo)},
                         backend::opencl::struct_value{&both, sizeof both});
    }
  });
}

std::string unsupported(const problem& p, const backend::device& on, const tuning& t) {
  const sizes s(p);
  const plan tiled = plan_for(p, on.info(), t);
  if (!tiled.holds(s))
    return "the field is smaller than a tile of " + std::to_string(tiled.shape.height()) + "x" +
           std::to_string(tiled.shape.width()) + " elements";
  if (s.rows > 0x7fffffff || s.columns > 0x7fffffff || tiled.across(s) * tiled.down(s) > 0x7fffffff)
    return "its rows, columns and tiles are counted in 31 bits";
  return backend::opencl::too_large(on.info(), 32 * tiled.shape.warps, local_bytes(p, tiled.shape));
}

std::string yields(const problem& p, const backend::device& on) {
  if (on.info().is_cpu) return "temporal is faster on a CPU, whose items have no neighbours to ask";
  return p.type == dtype::f64 && sizes(p).steps <= 2 ? "temporal is faster for so few steps of doubles" : "";
}

}  // namespace

registry::variant opencl_registers_variant() {
  return {.algorithm = "diffuse",
          .backend = "opencl",
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
