// SPDX-License-Identifier: Apache-2.0
// What:   diffuse/opencl:temporal and diffuse/opencl:tiles: one launch for each step, or for several steps.
// Order:  program.cl.
// Shape:  tiles.cl; fields alternate between the result and a workspace.
// Limits: local memory for the tiles; tiles that are larger than the halo of their steps.
// Twins:  serial.cpp.
#include "diffuse/opencl/shared.hpp"

namespace tilewise::embedded {
extern const std::string_view diffuse_tiles_cl;
}

namespace tilewise::impl::diffuse {

namespace {

using backend::buffer;
using registry::problem;
using registry::tuning;

constexpr std::array<unsigned, 3> widths{32, 64, 128};
constexpr std::array<unsigned, 3> heights{16, 32, 64};
constexpr std::array<unsigned, 4> depths{1, 2, 4, 8};
constexpr std::array<registry::tuning_axis, 2> tile_axes{{{"width", widths, 64}, {"height", heights, 32}}};
constexpr std::array<registry::tuning_axis, 3> temporal_axes{
    {{"width", widths, 64}, {"height", heights, 32}, {"steps", depths, 4}}};
constexpr unsigned group_items = 256;

/// A tile, and the steps of a pass over memory.
struct tile_pass {
  unsigned width, height;
  std::uint64_t steps;
};

tile_pass temporal_pass(const tuning& t) {
  const auto [width, height, steps] = t.of(temporal_axes);
  return {width, height, steps};
}

tile_pass single_pass(const tuning& t) {
  const auto [width, height] = t.of(tile_axes);
  return {width, height, 1};
}

std::string tile_definitions(const problem& p, const tile_pass& tile) {
  return opencl_definitions(p) + " -DTW_WIDTH=" + std::to_string(tile.width) +
         " -DTW_HEIGHT=" + std::to_string(tile.height) +
         " -DTW_ROWS=" + std::to_string(tile.width * tile.height / group_items);
}

/// How many tiles a pass needs: each writes only what is left without its halo.
std::uint64_t tiles_of(const problem& p, const tile_pass& tile, std::uint64_t steps) {
  const sizes s(p);
  const std::uint64_t halo = steps * radius_of(mask_of(p));
  return ceil_div(s.columns, tile.width - 2 * halo) * ceil_div(s.rows, tile.height - 2 * halo);
}

void upload_weights(const problem& p, backend::memory to, backend::queue& queue) {
  with_float(p.type, [&]<class T>(T) {
    const weights<T> w = weights_in<T>(p);
    queue.upload(to, &w, sizeof w);
  });
}

template <tile_pass (*Pass)(const tuning&)>
void run(const problem& p, const registry::bindings& where, const tuning& t, backend::queue& on) {
  const tile_pass tile = Pass(t);
  auto& queue = static_cast<backend::opencl::queue&>(on);
  if (copies_only(p, where, queue)) return;
  auto& program = queue.program(embedded::diffuse_tiles_cl, tile_definitions(p, tile));
  const sizes s(p);
  const std::size_t size = size_of(p.type);
  const std::uint64_t depth = tile.steps, passes = ceil_div(s.steps, depth);
  const buffer in_memory(queue, sizeof(weights<double>));
  const buffer workspace(queue, passes > 1 ? s.elements() * size : 0);
  upload_weights(p, in_memory, queue);
  for (std::uint64_t i = 0; i < passes; ++i) {
    const stage now(where, workspace, passes, i);
    const std::uint64_t steps = std::min(depth, s.steps - i * depth);
    queue.launch_tiles(program.kernel("tw_steps"), tiles_of(p, tile, steps),
                       backend::opencl::group_shape(tile.width, group_items / tile.width), now.from,
                       now.from.offset / size, now.to, now.to.offset / size, s.rows, s.columns, s.half(),
                       static_cast<std::uint32_t>(steps), backend::memory(in_memory));
  }
}

template <tile_pass (*Pass)(const tuning&)>
std::string unsupported(const problem& p, const backend::device& on, const tuning& t) {
  const tile_pass tile = Pass(t);
  const std::uint64_t halo = tile.steps * radius_of(mask_of(p));
  if (2 * halo >= std::min(tile.width, tile.height))
    return "a tile of " + std::to_string(tile.width) + "x" + std::to_string(tile.height) +
           " elements is all halo after " + std::to_string(tile.steps) + " steps";
  return backend::opencl::too_large(on.info(), group_items, std::uint64_t{tile.width} * tile.height * size_of(p.type));
}

}  // namespace

std::vector<registry::variant> diffuse_opencl_variants() {
  return {{.algorithm = "diffuse",
           .backend = "opencl",
           .name = "temporal",
           .types = float_types,
           .source = "J. Holewinski, L.-N. Pouchet, P. Sadayappan, High-performance code generation for stencil "
                     "computations on GPU architectures (2012)",
           .tuning = temporal_axes,
           .unsupported = unsupported<temporal_pass>,
           .run = run<temporal_pass>},
          {.algorithm = "diffuse",
           .backend = "opencl",
           .name = "tiles",
           .types = float_types,
           .source = "HiPerC's tiled convolution: T. Keller, D. Wheeler et al.",
           .tuning = tile_axes,
           .unsupported = unsupported<single_pass>,
           .run = run<single_pass>}};
}

}  // namespace tilewise::impl::diffuse
