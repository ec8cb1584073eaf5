// SPDX-License-Identifier: Apache-2.0
// What:   the variants of matmul on OpenCL.
// Order:  one chain per element, all of it in one item: *.cl.
// Shape:  one launch; a group makes one tile of C.
// Limits: local memory for the tiles; f64 where the device has it.
// Twins:  serial.cpp.
#include "backend/opencl/device.hpp"
#include "backend/opencl/queue.hpp"
#include "base/ceil_div.hpp"
#include "matmul/problem.hpp"
#include "registry/variant.hpp"

#include <algorithm>
#include <bit>

namespace tilewise::embedded {
extern const std::string_view matmul_simple_cl, matmul_blocked16_cl, matmul_register_tiles_cl;
}

namespace tilewise::impl::matmul {

namespace {

using backend::opencl::group_shape;
using registry::problem;
using registry::tuning;

/// The tile of C that one group makes.
struct tile_extent {
  unsigned rows, columns;
};

std::uint64_t tiles_of(const sizes& s, tile_extent tile) {
  return ceil_div(s.m, tile.rows) * ceil_div(s.n, tile.columns);
}

/// All three kernels take the same arguments.
void launch(const problem& p, const registry::bindings& where, backend::queue& on, std::string_view source,
            const char* kernel, const std::string& definitions, tile_extent tile, group_shape group) {
  const sizes s(p);
  if (s.m == 0 || s.n == 0) return;
  auto& queue = static_cast<backend::opencl::queue&>(on);
  auto& program = queue.program(source, backend::opencl::definitions_of(p.type, op::sum) + definitions);
  const auto first = [&](const backend::memory& m) { return m.offset / size_of(p.type); };
  queue.launch_tiles(program.kernel(kernel), tiles_of(s, tile), group, where.in[0], first(where.in[0]), s.lda,
                     where.in[1], first(where.in[1]), s.ldb, where.out[0], first(where.out[0]), s.ldc, s.m, s.n, s.k);
}

// simple

constexpr std::array<unsigned, 4> group_values{0, 1, 2, 3};
constexpr std::array<std::string_view, 4> group_words{"1x1", "16x16", "32x8", "64x4"};  // items, width x height
constexpr std::array<group_shape, 4> groups{{{1, 1}, {16, 16}, {32, 8}, {64, 4}}};
constexpr std::array<registry::tuning_axis, 1> simple_axes{{{"group", group_values, 2, group_words}}};

void run_simple(const problem& p, const registry::bindings& where, const tuning& t, backend::queue& queue) {
  const auto [index] = t.of(simple_axes);
  const group_shape group = groups[index];
  launch(p, where, queue, embedded::matmul_simple_cl, "tw_simple", "", {group.height, group.width}, group);
}

std::string simple_unsupported(const problem&, const backend::device& on, const tuning& t) {
  const auto [index] = t.of(simple_axes);
  return backend::opencl::too_large(on.info(), groups[index].items(), 0);
}

// blocked16

constexpr unsigned side = 16;

void run_blocked16(const problem& p, const registry::bindings& where, const tuning&, backend::queue& queue) {
  launch(p, where, queue, embedded::matmul_blocked16_cl, "tw_blocked16", "", {side, side}, {side, side});
}

std::string blocked16_unsupported(const problem& p, const backend::device& on, const tuning&) {
  return backend::opencl::too_large(on.info(), side * side, 2 * side * side * size_of(p.type));
}

// blocked: the same for any side

constexpr std::array<unsigned, 4> blocked_sides{4, 8, 16, 32};
constexpr std::array<registry::tuning_axis, 1> blocked_axes{{{"side", blocked_sides, 8}}};
constexpr std::array blocked_types{dtype::f32};

void run_blocked(const problem& p, const registry::bindings& where, const tuning& t, backend::queue& queue) {
  const auto [b] = t.of(blocked_axes);
  launch(p, where, queue, embedded::matmul_blocked16_cl, "tw_blocked16", " -DTW_SIDE=" + std::to_string(b), {b, b},
         {b, b});
}

std::string blocked_unsupported(const problem& p, const backend::device& on, const tuning& t) {
  const auto [b] = t.of(blocked_axes);
  return backend::opencl::too_large(on.info(), b * b, 2 * b * b * size_of(p.type));
}

// register_tiles

struct register_shape {
  tile_extent tile, item;
  unsigned depth_units;           // 16-byte units of a row of A in one step
  std::array<unsigned, 2> speed;  // TFLOP/s with many tiles, for 4-byte and 8-byte elements

  unsigned items() const { return tile.rows / item.rows * (tile.columns / item.columns); }
  std::uint64_t local_bytes(dtype type) const {
    const std::uint64_t depth = std::uint64_t{depth_units} * 16 / size_of(type);
    return 2 * depth * ((tile.rows + tile.columns) * size_of(type) + 16);
  }
  std::string definitions() const {
    const auto define = [](const char* name, unsigned value) {
      return std::string(" -D") + name + "=" + std::to_string(value);
    };
    return define("TW_ROWS", tile.rows) + define("TW_COLUMNS", tile.columns) + define("TW_ITEM_ROWS", item.rows) +
           define("TW_ITEM_COLUMNS", item.columns) + define("TW_DEPTH_UNITS", depth_units) +
           define("TW_LOG_GROUP", static_cast<unsigned>(std::countr_zero(items())));
  }
};

// The speeds are those of an H200 at 4096, f32 and f64. Small tiles are for small problems: deep steps make them 10% to
// 20% faster at 512, though not at 4096.
constexpr std::array<register_shape, 6> shapes{{{{32, 32}, {4, 4}, 8, {31, 18}},
                                                {{32, 64}, {4, 4}, 8, {35, 20}},
                                                {{64, 64}, {8, 4}, 8, {40, 21}},
                                                {{64, 128}, {8, 8}, 4, {43, 23}},
                                                {{128, 128}, {8, 8}, 4, {45, 22}},
                                                {{128, 256}, {8, 16}, 2, {47, 0}}}};
constexpr unsigned shape_on_cpu = 0;  // on PoCL 1.2 to 4 times as fast as the others
constexpr std::array<unsigned, 7> tile_values{0, 1, 2, 3, 4, 5, 6};
constexpr std::array<std::string_view, 7> tile_words{"auto", "32x32", "32x64", "64x64", "64x128", "128x128", "128x256"};
constexpr std::array<registry::tuning_axis, 1> register_axes{{{"tile", tile_values, 0, tile_words}}};

std::string reason_against(const register_shape& shape, dtype type, const device_info& on) {
  // In bytes: half of the 255 registers that a work-item can have on NVIDIA devices. Twice as much runs at a hundredth
  // of the speed.
  constexpr std::size_t registers = 512;
  if (shape.item.rows * shape.item.columns * size_of(type) > registers)
    return "an item's part of this tile of " + std::string(name_of(type)) + " is larger than its registers";
  return backend::opencl::too_large(on, shape.items(), shape.local_bytes(type));
}

/// An estimate of a product's time, if each compute unit computes one tile per round. It serves only to compare shapes.
double estimate(const register_shape& shape, const problem& p, std::uint64_t compute_units) {
  const std::uint64_t units = std::max<std::uint64_t>(compute_units, 1);
  const std::uint64_t rounds = ceil_div(tiles_of(sizes(p), shape.tile), units);
  return static_cast<double>(rounds) * shape.tile.rows * shape.tile.columns / shape.speed[size_of(p.type) / 8];
}

const register_shape& shape_for(const problem& p, const device_info& on, const tuning& t) {
  const auto [tile] = t.of(register_axes);
  if (tile != 0) return shapes[tile - 1];
  if (on.is_cpu) return shapes[shape_on_cpu];
  const register_shape* best = &shapes[0];
  for (const register_shape& shape : shapes)
    if (reason_against(shape, p.type, on).empty() &&
        estimate(shape, p, on.compute_units) <= estimate(*best, p, on.compute_units))
      best = &shape;
  return *best;
}

void run_register_tiles(const problem& p, const registry::bindings& where, const tuning& t, backend::queue& queue) {
  const register_shape& shape = shape_for(p, queue.device().info(), t);
  launch(p, where, queue, embedded::matmul_register_tiles_cl, "tw_register_tiles", shape.definitions(), shape.tile,
         shape.items());
}

std::string register_tiles_unsupported(const problem& p, const backend::device& on, const tuning& t) {
  return reason_against(shape_for(p, on.info(), t), p.type, on.info());
}

}  // namespace

std::vector<registry::variant> matmul_opencl_variants() {
  return {
      {.algorithm = "matmul",
       .backend = "opencl",
       .name = "register_tiles",
       .types = all_dtypes,
       .source = "Nugteren 2018, CLBlast: a tuned OpenCL BLAS library",
       .tuning = register_axes,
       .unsupported = register_tiles_unsupported,
       .run = run_register_tiles},
      {.algorithm = "matmul",
       .backend = "opencl",
       .name = "blocked16",
       .types = all_dtypes,
       .source = "blocks in local memory: Kirk and Hwu 2010, Programming Massively Parallel Processors, chapter 5",
       .unsupported = blocked16_unsupported,
       .run = run_blocked16},
      {.algorithm = "matmul",
       .backend = "opencl",
       .name = "blocked",
       .types = blocked_types,
       .source = "blocks in local memory: Kirk and Hwu 2010, Programming Massively Parallel Processors, chapter 5",
       .tuning = blocked_axes,
       .unsupported = blocked_unsupported,
       .run = run_blocked},
      {.algorithm = "matmul",
       .backend = "opencl",
       .name = "simple",
       .types = all_dtypes,
       .source = "the definition, one work-item per element: Golub and Van Loan, Matrix Computations, 4th edition, 1.1",
       .tuning = simple_axes,
       .unsupported = simple_unsupported,
       .run = run_simple}};
}

}  // namespace tilewise::impl::matmul
