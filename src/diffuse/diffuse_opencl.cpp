// What:   diffusion on OpenCL: one launch for each step, or for several of them.
// Order:  diffuse.cl.
// Shape:  tiles.cl and temporal.cl; fields in turns between the result and a workspace.
// Limits: local memory for the tiles; tiles that are larger than the halo of their steps.
// Twins:  diffuse_serial.cpp.
#include "backend/opencl/opencl_device.hpp"
#include "backend/opencl/opencl_queue.hpp"
#include "diffuse/diffuse_problem.hpp"

#include <bit>

namespace tilewise::embedded {
extern const std::string_view diffuse_tiles_cl;
extern const std::string_view diffuse_temporal_cl;
}  // namespace tilewise::embedded

namespace tilewise::impl::diffuse {

namespace {

using backend::buffer;
using registry::problem;
using registry::tuning;

constexpr std::array<unsigned, 3> widths{8, 16, 32};
constexpr std::array<unsigned, 3> heights{8, 16, 32};
constexpr std::array<registry::tuning_axis, 2> tile_axes{{{"width", widths, 32}, {"height", heights, 8}}};
constexpr std::array<unsigned, 3> wide_widths{32, 64, 128};
constexpr std::array<unsigned, 3> wide_heights{16, 32, 64};
constexpr std::array<unsigned, 4> depths{1, 2, 4, 8};
constexpr std::array<registry::tuning_axis, 3> temporal_axes{
    {{"width", wide_widths, 64}, {"height", wide_heights, 32}, {"steps", depths, 4}}};
constexpr unsigned temporal_group = 256;

std::uint64_t parts_of(std::uint64_t count, std::uint64_t size) { return (count + size - 1) / size; }

/// The elements that a tile with a halo of so many on each side gives.
struct inner_tile {
  std::uint64_t width, height;

  inner_tile(const tuning& t, std::uint64_t halo) : width(t[0] - 2 * halo), height(t[1] - 2 * halo) {}
  std::uint64_t tiles(const sizes& s) const { return parts_of(s.columns, width) * parts_of(s.rows, height); }
};

std::string definitions(const problem& p, const tuning& t) {
  return backend::opencl::definitions_of(p.type, op::sum) + " -DTW_MASK=" + std::string(mask_words[p.setting[0]]) +
         " -DTW_WIDTH=" + std::to_string(t[0]) + " -DTW_HEIGHT=" + std::to_string(t[1]);
}

void upload_weights(const problem& p, backend::memory to, backend::queue& queue) {
  with_field_type(p.type, [&]<class T>(T) {
    const weights<T> w = weights_in<T>(p);
    queue.upload(to, &w, sizeof w);
  });
}

/// Calls pass(stage, steps, weights) for each pass of up to `depth` steps.
template <class Pass>
void in_passes(const problem& p, const registry::memories& where, std::uint64_t depth, backend::queue& queue,
               const Pass& pass) {
  if (copies_only(p, where, queue)) return;
  const sizes s(p);
  const std::uint64_t passes = parts_of(s.steps, depth);
  const buffer in_memory(queue, sizeof(weights<double>));
  const buffer workspace(queue, passes > 1 ? s.elements() * size_of(p.type) : 0);
  upload_weights(p, in_memory, queue);
  for (std::uint64_t i = 0; i < passes; ++i)
    pass(stage(where, workspace, passes, i), std::min(depth, s.steps - i * depth), backend::memory(in_memory));
}

void run_tiles(const problem& p, const registry::memories& where, const tuning& t, backend::queue& on) {
  auto& queue = static_cast<backend::opencl::queue&>(on);
  auto& program = queue.program(embedded::diffuse_tiles_cl, definitions(p, t));
  const sizes s(p);
  const std::size_t size = size_of(p.type);
  in_passes(p, where, 1, queue, [&](const stage& now, std::uint64_t, const backend::memory& w) {
    queue.launch_tiles(program.kernel("tw_tiles"), inner_tile(t, radius_of(mask_of(p))).tiles(s),
                       backend::opencl::group_shape(t[0], t[1]), now.from, now.from.offset / size, now.to,
                       now.to.offset / size, s.rows, s.columns, w);
  });
}

std::string tiles_unsupported(const problem& p, const backend::device& on, const tuning& t) {
  return backend::opencl::too_large(on.info(), t[0] * t[1], std::uint64_t{t[0]} * t[1] * size_of(p.type));
}

void run_temporal(const problem& p, const registry::memories& where, const tuning& t, backend::queue& on) {
  auto& queue = static_cast<backend::opencl::queue&>(on);
  auto& program =
      queue.program(embedded::diffuse_temporal_cl,
                    definitions(p, t) + " -DTW_LOG_GROUP=" + std::to_string(std::countr_zero(temporal_group)));
  const sizes s(p);
  const std::size_t size = size_of(p.type);
  in_passes(p, where, t[2], queue, [&](const stage& now, std::uint64_t steps, const backend::memory& w) {
    queue.launch_tiles(program.kernel("tw_temporal"), inner_tile(t, steps * radius_of(mask_of(p))).tiles(s),
                       temporal_group, now.from, now.from.offset / size, now.to, now.to.offset / size, s.rows,
                       s.columns, static_cast<std::uint32_t>(steps), w);
  });
}

std::string temporal_unsupported(const problem& p, const backend::device& on, const tuning& t) {
  const unsigned halo = t[2] * radius_of(mask_of(p));
  if (2 * halo >= t[1] || 2 * halo >= t[0])
    return "a tile of " + std::to_string(t[0]) + "x" + std::to_string(t[1]) + " elements is all halo after " +
           std::to_string(t[2]) + " steps";
  return backend::opencl::too_large(on.info(), temporal_group, 2ull * t[0] * t[1] * size_of(p.type));
}

}  // namespace

std::vector<registry::variant> diffuse_opencl_variants() {
  return {{.algorithm = "diffuse",
           .backend = "opencl",
           .name = "temporal",
           .types = field_types,
           .source = "J. Holewinski, L.-N. Pouchet, P. Sadayappan, High-performance code generation for stencil "
                     "computations on GPU architectures (2012)",
           .tuning = temporal_axes,
           .unsupported = temporal_unsupported,
           .run = run_temporal},
          {.algorithm = "diffuse",
           .backend = "opencl",
           .name = "tiles",
           .types = field_types,
           .source = "HiPerC's tiled convolution: T. Keller, D. Wheeler et al.",
           .tuning = tile_axes,
           .unsupported = tiles_unsupported,
           .run = run_tiles}};
}

}  // namespace tilewise::impl::diffuse
