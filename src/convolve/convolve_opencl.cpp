// SPDX-License-Identifier: Apache-2.0
// What:   the variants of convolve on OpenCL.
// Order:  one chain per result, all of it in one item: convolve_*.cl.
// Shape:  one launch; a group makes a tile of the result.
// Limits: tiles: local memory for a tile and its halo, 64 KiB of constant memory for the mask; f64 where the device has
//         it.
// Twins:  convolve_serial.cpp.
#include "backend/opencl/opencl_device.hpp"
#include "backend/opencl/opencl_queue.hpp"
#include "convolve/convolve_problem.hpp"
#include "registry/variant.hpp"

namespace tilewise::embedded {
extern const std::string_view convolve_blocks_cl, convolve_simple_cl, convolve_tiles_cl;
}

namespace tilewise::impl::convolve {

namespace {

using registry::problem;
using registry::tuning;

constexpr backend::opencl::group_shape group{32, 8};

std::string definitions_of(const problem& p) { return backend::opencl::definitions_of(p.type, op::sum); }

std::uint64_t first_of(const backend::memory& m, const problem& p) { return m.offset / size_of(p.type); }

// simple

void run_simple(const problem& p, const registry::bindings& where, const tuning&, backend::queue& on) {
  const sizes s(p);
  auto& queue = static_cast<backend::opencl::queue&>(on);
  auto& program = queue.program(embedded::convolve_simple_cl, definitions_of(p));
  queue.launch_tiles(program.kernel("tw_simple"), tiles_of(s, group.height, group.width), group, where.in[0],
                     first_of(where.in[0], p), s.image.rows, s.image.columns, where.in[1], first_of(where.in[1], p),
                     s.mask.rows, s.mask.columns, where.out[0], first_of(where.out[0], p), s.result.rows,
                     s.result.columns, s.above, s.left);
}

std::string simple_unsupported(const problem&, const backend::device& on, const tuning&) {
  return backend::opencl::too_large(on.info(), group.items(), 0);
}

// tiles

constexpr std::uint64_t constant_bytes = 65536;  // what every device has for one argument

constexpr std::array<unsigned, 4> row_values{0, 1, 2, 3};
constexpr std::array<std::string_view, 4> row_words{"auto", "2", "4", "8"};
constexpr std::array<registry::tuning_axis, 1> axes{{{"rows", row_values, 0, row_words}}};

/// A group's tile when each item has this many rows of it.
struct tile_shape {
  sizes of;
  dtype type;
  unsigned item_rows, item_columns, unrolled;

  tile_shape(unsigned rows, const problem& p)
      : of(p),
        type(p.type),
        item_rows(rows),
        item_columns(static_cast<unsigned>(16 / size_of(type))),
        unrolled(unrolled_rows(of.mask)) {}

  std::uint64_t rows() const { return std::uint64_t{group.height} * item_rows; }
  std::uint64_t columns() const { return std::uint64_t{group.width} * item_columns; }
  std::uint64_t tiles() const {
    const std::uint64_t before = unrolled != 0 ? (0 - of.left) % item_columns : 0;  // see convolve_blocks.cl
    return ceil_div(of.result.rows, rows()) * ceil_div(of.result.columns + before, columns());
  }
  backend::opencl::local_room local_room() const {
    const std::uint64_t pixels = columns() + of.mask.columns - 1;
    const std::uint64_t pitch = unrolled != 0 ? ceil_div(pixels, std::uint64_t{item_columns}) * item_columns : pixels;
    return {(rows() + of.mask.rows - 1) * pitch * size_of(type)};
  }
  std::string definitions() const {
    const auto define = [](const char* name, unsigned value) {
      return std::string(" -D") + name + "=" + std::to_string(value);
    };
    return define("TW_ROWS", item_rows) + define("TW_ACROSS", group.width) + define("TW_DOWN", group.height) +
           (unrolled != 0 ? define("TW_MASK", unrolled) : define("TW_COLUMNS", item_columns));
  }
  std::string reason_against(const device_info& on) const {
    if (of.mask.rows * of.mask.columns * size_of(type) > constant_bytes)
      return "a mask of " + std::to_string(of.mask.rows * of.mask.columns) +
             " weights is too large for constant memory";
    return backend::opencl::too_large(on, group.items(), local_room());
  }
};

/// Many rows save reads of the group's memory; but few tiles leave compute units idle. With unrolled masks, 8 rows of
/// an item were no faster than 4 at any size on an H200.
tile_shape shape_for(const problem& p, const device_info& on, const tuning& t) {
  const auto [log_rows] = t.of(axes);
  if (log_rows != 0) return {1u << log_rows, p};
  constexpr std::uint64_t tiles_a_unit = 4;
  for (const unsigned rows : {8u, 4u}) {
    const tile_shape shape(rows, p);
    const bool is_enough = shape.unrolled != 0 ? rows == 4 : shape.tiles() >= tiles_a_unit * on.compute_units;
    if (is_enough && shape.reason_against(on).empty()) return shape;
  }
  return {2, p};
}

/// A __constant argument is a cl_mem no larger than constant memory; a mask in a larger one is copied out of it.
bool is_constant(const backend::memory& mask) {
  std::size_t bytes = 0;
  TW_CL(backend::opencl::cl().clGetMemObjectInfo(static_cast<cl_mem>(mask.base), CL_MEM_SIZE, sizeof bytes, &bytes,
                                                 nullptr));
  return bytes <= constant_bytes;
}

void run_tiles(const problem& p, const registry::bindings& where, const tuning& t, backend::queue& on) {
  auto& queue = static_cast<backend::opencl::queue&>(on);
  const tile_shape tile = shape_for(p, queue.device().info(), t);
  const sizes& s = tile.of;
  backend::memory mask = where.in[1];
  const bool copied = !is_constant(mask);
  const backend::buffer copy(queue, copied ? mask.bytes : 0);
  if (copied) {
    queue.copy(copy, mask, mask.bytes);
    mask = copy;
  }
  const std::string definitions = definitions_of(p) + tile.definitions();
  const auto launch = [&](cl_kernel kernel, auto... mask_size) {
    queue.launch_tiles(kernel, tile.tiles(), group, where.in[0], first_of(where.in[0], p), s.image.rows,
                       s.image.columns, mask, first_of(mask, p), mask_size..., where.out[0], first_of(where.out[0], p),
                       s.result.rows, s.result.columns, s.above, s.left, tile.local_room());
  };
  if (tile.unrolled != 0)
    launch(queue.program(embedded::convolve_blocks_cl, definitions).kernel("tw_blocks"));
  else
    launch(queue.program(embedded::convolve_tiles_cl, definitions).kernel("tw_tiles"),
           static_cast<std::uint32_t>(s.mask.rows), static_cast<std::uint32_t>(s.mask.columns));
}

std::string tiles_unsupported(const problem& p, const backend::device& on, const tuning& t) {
  return shape_for(p, on.info(), t).reason_against(on.info());
}

}  // namespace

std::vector<registry::variant> convolve_opencl_variants() {
  return {{.algorithm = "convolve",
           .backend = "opencl",
           .name = "tiles",
           .types = float_types,
           .source = "a tile and its halo in local memory: Podlozhnyuk 2007, Image convolution with CUDA",
           .tuning = axes,
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
