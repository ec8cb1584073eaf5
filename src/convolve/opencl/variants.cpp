// SPDX-License-Identifier: Apache-2.0
// What:   the variants of convolve on OpenCL.
// Order:  one chain per result, all of it in one item: *.cl.
// Shape:  one launch; a group makes a tile of the result.
// Limits: tiles: local memory for a tile and its halo, 64 KiB of constant memory for the mask; f64 where the device has
//         it.
// Twins:  serial.cpp.
#include "convolve/opencl/variants.hpp"

namespace tilewise::embedded {
extern const std::string_view convolve_simple_cl, convolve_tiles_cl;
}

namespace tilewise::impl::convolve {

namespace {

using registry::problem;
using registry::tuning;

// simple

void run_simple(const problem& p, const registry::bindings& where, const tuning&, backend::queue& on) {
  const sizes s(p);
  auto& queue = static_cast<backend::opencl::queue&>(on);
  auto& program = queue.program(embedded::convolve_simple_cl, backend::opencl::definitions_of(p.type, op::sum));
  queue.launch_tiles(program.kernel("tw_simple"), tiles_of(s, tile_group.height, tile_group.width), tile_group,
                     where.in[0], first_of(where.in[0], p), s.image.rows, s.image.columns, where.in[1],
                     first_of(where.in[1], p), s.mask.rows, s.mask.columns, where.out[0], first_of(where.out[0], p),
                     s.result.rows, s.result.columns, s.above, s.left);
}

std::string simple_unsupported(const problem&, const backend::device& on, const tuning&) {
  return backend::opencl::too_large(on.info(), tile_group.items(), 0);
}

// tiles

/// A work-group's tile if each work-item computes `rows` rows.
struct tile_shape {
  unsigned item_rows, item_columns;

  tile_shape(unsigned rows, dtype type) : item_rows(rows), item_columns(static_cast<unsigned>(16 / size_of(type))) {}

  std::uint64_t rows() const { return std::uint64_t{tile_group.height} * item_rows; }
  std::uint64_t columns() const { return std::uint64_t{tile_group.width} * item_columns; }
  backend::opencl::local_room local_room(const problem& p) const {
    const image_size mask = sizes(p).mask;
    return {(rows() + mask.rows - 1) * (columns() + mask.columns - 1) * size_of(p.type)};
  }
};

std::string reason_against(const tile_shape& tile, const problem& p, const device_info& on) {
  if (std::string why = not_constant(p); !why.empty()) return why;
  return backend::opencl::too_large(on, tile_group.items(), tile.local_room(p));
}

tile_shape shape_for(const problem& p, const device_info& on, const tuning& t) {
  const auto shape = [&](unsigned rows) { return tile_shape(rows, p.type); };
  const auto tiles = [&](unsigned rows) { return tiles_of(sizes(p), shape(rows).rows(), shape(rows).columns()); };
  return shape(choose_rows(t, on, tiles, [&](unsigned rows) { return reason_against(shape(rows), p, on); }));
}

void run_tiles(const problem& p, const registry::bindings& where, const tuning& t, backend::queue& on) {
  const sizes s(p);
  auto& queue = static_cast<backend::opencl::queue&>(on);
  const tile_shape tile = shape_for(p, queue.device().info(), t);
  auto& program = queue.program(embedded::convolve_tiles_cl, definitions_of(p, tile.item_rows));
  const constant_mask mask(queue, where.in[1]);
  queue.launch_tiles(program.kernel("tw_tiles"), tiles_of(s, tile.rows(), tile.columns()), tile_group, where.in[0],
                     first_of(where.in[0], p), s.image.rows, s.image.columns, mask.where(), first_of(mask.where(), p),
                     static_cast<std::uint32_t>(s.mask.rows), static_cast<std::uint32_t>(s.mask.columns), where.out[0],
                     first_of(where.out[0], p), s.result.rows, s.result.columns, s.above, s.left, tile.local_room(p));
}

std::string tiles_unsupported(const problem& p, const backend::device& on, const tuning& t) {
  return reason_against(shape_for(p, on.info(), t), p, on.info());
}

}  // namespace

std::string definitions_of(const problem& p, unsigned rows) {
  std::string text = backend::opencl::definitions_of(p.type, op::sum);
  const auto define = [&](const char* name, unsigned value) {
    text += std::string(" -D") + name + "=" + std::to_string(value);
  };
  define("TW_ROWS", rows);
  define("TW_ACROSS", tile_group.width);
  define("TW_DOWN", tile_group.height);
  if (const unsigned unrolled = unrolled_rows(sizes(p).mask); unrolled != 0) define("TW_MASK", unrolled);
  return text;
}

std::uint64_t first_of(const backend::memory& m, const problem& p) { return m.offset / size_of(p.type); }

constexpr std::uint64_t constant_bytes = 65536;  // what every device has for one argument

std::string not_constant(const problem& p) {
  const image_size mask = sizes(p).mask;
  if (mask.rows * mask.columns * size_of(p.type) <= constant_bytes) return "";
  return "a mask of " + std::to_string(mask.rows * mask.columns) + " weights is too large for constant memory";
}

namespace {

std::size_t bytes_beyond_constant(const backend::memory& mask) {
  std::size_t bytes = 0;
  TW_CL(backend::opencl::cl().clGetMemObjectInfo(static_cast<cl_mem>(mask.base), CL_MEM_SIZE, sizeof bytes, &bytes,
                                                 nullptr));
  return bytes <= constant_bytes ? 0 : mask.bytes;
}

}  // namespace

constant_mask::constant_mask(backend::opencl::queue& q, const backend::memory& mask)
    : copy_(q, bytes_beyond_constant(mask)), where_(mask) {
  if (backend::memory(copy_).bytes == 0) return;
  q.copy(copy_, mask, mask.bytes);
  where_ = copy_;
}

std::vector<registry::variant> convolve_opencl_variants() {
  return {{.algorithm = "convolve",
           .backend = "opencl",
           .name = "tiles",
           .types = float_types,
           .source = "a tile and its halo in local memory: Podlozhnyuk 2007, Image convolution with CUDA",
           .tuning = row_axes,
           .unsupported = tiles_unsupported,
           .run = run_tiles},
          {.algorithm = "convolve",
           .backend = "opencl",
           .name = "simple",
           .types = float_types,
           .source = "the definition, one work-item per result",
           .unsupported = simple_unsupported,
           .run = run_simple}};
}

}  // namespace tilewise::impl::convolve
