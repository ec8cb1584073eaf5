// What:   diffusion on OpenCL: one launch for each step, or for several of them.
// Order:  diffuse.cl.
// Shape:  diffuse.cl; fields in turns between the result and a workspace.
// Limits: local memory for the tiles; tiles that are larger than the halo of their steps.
// Twins:  diffuse_serial.cpp.
#include "backend/opencl/opencl_device.hpp"
#include "backend/opencl/opencl_queue.hpp"
#include "diffuse/diffuse_problem.hpp"

namespace tilewise::embedded {
extern const std::string_view diffuse_cl;
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

/// The steps of a pass over memory: tiles has no such axis, and 0 there.
std::uint64_t depth_of(const tuning& t) { return std::max(t[2], 1u); }

std::string definitions(const problem& p, const tuning& t) {
  return backend::opencl::definitions_of(p.type, op::sum) + " -DTW_MASK=" + std::string(mask_words[p.setting[0]]) +
         " -DTW_WIDTH=" + std::to_string(t[0]) + " -DTW_HEIGHT=" + std::to_string(t[1]) +
         " -DTW_ROWS=" + std::to_string(t[0] * t[1] / group_items);
}

/// Tiles of which a pass writes what is left without the halo.
std::uint64_t tiles_of(const problem& p, const tuning& t, std::uint64_t steps) {
  const sizes s(p);
  const std::uint64_t halo = steps * radius_of(mask_of(p));
  return ceil_div(s.columns, t[0] - 2 * halo) * ceil_div(s.rows, t[1] - 2 * halo);
}

void upload_weights(const problem& p, backend::memory to, backend::queue& queue) {
  with_float(p.type, [&]<class T>(T) {
    const weights<T> w = weights_in<T>(p);
    queue.upload(to, &w, sizeof w);
  });
}

void run(const problem& p, const registry::memories& where, const tuning& t, backend::queue& on) {
  auto& queue = static_cast<backend::opencl::queue&>(on);
  if (copies_only(p, where, queue)) return;
  auto& program = queue.program(embedded::diffuse_cl, definitions(p, t));
  const sizes s(p);
  const std::size_t size = size_of(p.type);
  const std::uint64_t depth = depth_of(t), passes = ceil_div(s.steps, depth);
  const buffer in_memory(queue, sizeof(weights<double>));
  const buffer workspace(queue, passes > 1 ? s.elements() * size : 0);
  upload_weights(p, in_memory, queue);
  for (std::uint64_t i = 0; i < passes; ++i) {
    const stage now(where, workspace, passes, i);
    const std::uint64_t steps = std::min(depth, s.steps - i * depth);
    queue.launch_tiles(program.kernel("tw_steps"), tiles_of(p, t, steps),
                       backend::opencl::group_shape(t[0], group_items / t[0]), now.from, now.from.offset / size, now.to,
                       now.to.offset / size, s.rows, s.columns, static_cast<std::uint32_t>(steps),
                       backend::memory(in_memory));
  }
}

std::string unsupported(const problem& p, const backend::device& on, const tuning& t) {
  const std::uint64_t halo = depth_of(t) * radius_of(mask_of(p));
  if (2 * halo >= std::min(t[0], t[1]))
    return "a tile of " + std::to_string(t[0]) + "x" + std::to_string(t[1]) + " elements is all halo after " +
           std::to_string(depth_of(t)) + " steps";
  return backend::opencl::too_large(on.info(), group_items, std::uint64_t{t[0]} * t[1] * size_of(p.type));
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
           .unsupported = unsupported,
           .run = run},
          {.algorithm = "diffuse",
           .backend = "opencl",
           .name = "tiles",
           .types = float_types,
           .source = "HiPerC's tiled convolution: T. Keller, D. Wheeler et al.",
           .tuning = tile_axes,
           .unsupported = unsupported,
           .run = run}};
}

}  // namespace tilewise::impl::diffuse
