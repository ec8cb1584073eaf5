// SPDX-License-Identifier: Apache-2.0
// What:   the variants of polymul on OpenCL.
// Order:  one chain per coefficient, all of it in one item: program.cl. Karatsuba's integers are exact in any order.
// Shape:  one launch; a group computes neighbouring coefficients. Karatsuba: one launch to split each factor, one for
//         the leaves, and one per level.
// Limits: local memory; f64 where the device has it. Karatsuba: integers without a modulus.
// Twins:  serial.cpp.
#include "backend/opencl/device.hpp"
#include "backend/opencl/queue.hpp"
#include "base/ceil_div.hpp"
#include "polymul/documents/karatsuba.hpp"
#include "registry/variant.hpp"

#include <bit>

namespace tilewise::embedded {
extern const std::string_view polymul_global_cl, polymul_karatsuba_cl, polymul_local_cl, polymul_tiles_cl;
}

namespace tilewise::impl::polymul {

namespace {

using registry::problem;
using registry::tuning;

/// The size of what the kernels multiply: 64-bit residues with a modulus, otherwise the coefficients themselves.
std::size_t factor_bytes(const problem& p) { return modulus_of(p) == 0 ? size_of(p.type) : sizeof(std::uint64_t); }

/// A program's kernel, and how many coefficients one group computes.
struct launcher {
  std::string_view source;
  const char* kernel;
  std::string definitions;
  unsigned group_size;
  std::uint64_t tile;          // coefficients
  std::uint64_t products = 1;  // as in tiles.cl

  /// All three kernels take the same arguments, and some take more.
  template <class... Arguments>
  void operator()(const problem& p, const registry::bindings& where, backend::queue& on,
                  const Arguments&... more) const {
    const sizes s(p);
    if (s.count == 0) return;
    auto& queue = static_cast<backend::opencl::queue&>(on);
    auto& program = queue.program(source, backend::opencl::definitions_of(p.type, op::sum) +
                                              (modulus_of(p) == 0 ? "" : " -DTW_MODULAR=1") + definitions);
    const auto first = [](const backend::memory& m, dtype type) { return m.offset / size_of(type); };
    queue.launch_tiles(program.kernel(kernel), products * ceil_div(s.count, tile), group_size, where.in[0],
                       first(where.in[0], p.type), s.n, where.in[1], first(where.in[1], p.type), s.m, where.out[0],
                       first(where.out[0], product_type(p.type)), s.first, s.count, modulus_of(p), more...);
  }
};

// global and local

constexpr std::array<unsigned, 4> group_sizes{64, 128, 256, 512};
constexpr std::array<registry::tuning_axis, 1> group_axes{{{"group_size", group_sizes, 256}}};

void run_global(const problem& p, const registry::bindings& where, const tuning& t, backend::queue& queue) {
  const auto [group_size] = t.of(group_axes);
  launcher{embedded::polymul_global_cl, "tw_global", "", group_size, group_size}(p, where, queue);
}

std::string global_unsupported(const problem&, const backend::device& on, const tuning& t) {
  const auto [group_size] = t.of(group_axes);
  return backend::opencl::too_large(on.info(), group_size, 0);
}

backend::opencl::local_room room_for_both(const problem& p) { return {(sizes(p).n + sizes(p).m) * factor_bytes(p)}; }

void run_local(const problem& p, const registry::bindings& where, const tuning& t, backend::queue& queue) {
  const auto [group_size] = t.of(group_axes);
  launcher{embedded::polymul_local_cl, "tw_local", "", group_size, group_size}(p, where, queue, room_for_both(p));
}

std::string local_unsupported(const problem& p, const backend::device& on, const tuning& t) {
  const auto [group_size] = t.of(group_axes);
  return backend::opencl::too_large(on.info(), group_size, room_for_both(p));
}

// tiles

constexpr std::array<unsigned, 2> tile_groups{64, 128};
constexpr std::array<unsigned, 4> item_values{0, 1, 2, 3};
constexpr std::array<std::string_view, 4> item_words{"auto", "4", "8", "16"};
// Lanes of vectors are for CPUs.
constexpr std::array<unsigned, 3> form_values{0, 1, 2};
constexpr std::array<std::string_view, 3> form_words{"auto", "scalars", "lanes"};
constexpr std::array<registry::tuning_axis, 3> tile_axes{
    {{"group_size", tile_groups, 64}, {"items", item_values, 0, item_words}, {"chains", form_values, 0, form_words}}};

/// More coefficients per item save reads of local memory, but few items leave compute units idle: on PoCL and on an
/// H200 these were the fastest.
unsigned items_for(const problem& p, const device_info& on, std::uint64_t products) {
  constexpr std::uint64_t enough = 32768;
  if (on.is_cpu) return is_float(p.type) ? 4 : 8;
  return p.type == dtype::f32 && products * sizes(p).count >= enough ? 8 : 4;
}

struct tile_shape {
  unsigned group_size, items;
  bool in_lanes;  // whether each chain is a lane of a vector; never for residues

  tile_shape(const problem& p, const device_info& on, const tuning& t, std::uint64_t products = 1) {
    const auto [group, item_value, form] = t.of(tile_axes);
    group_size = group;
    items = item_value == 0 ? items_for(p, on, products) : 2u << item_value;
    in_lanes = modulus_of(p) == 0 && (form == 0 ? on.is_cpu : form == 2);
  }

  unsigned local_elements() const {
    const unsigned rows = group_size + group_size / items;  // rows of elements of b
    return group_size + rows * (items + 1);
  }
  std::string definitions() const {
    return " -DTW_LOG_GROUP=" + std::to_string(std::countr_zero(group_size)) +
           " -DTW_LOG_ITEMS=" + std::to_string(std::countr_zero(items)) +
           (in_lanes ? " -DTW_LANES=" + std::to_string(items) : "");
  }
};

void multiply_by_tiles(const problem& p, const registry::bindings& where, const tuning& t, backend::queue& queue,
                       std::uint64_t products) {
  const tile_shape shape(p, queue.device().info(), t, products);
  const launcher launch{.source = embedded::polymul_tiles_cl,
                        .kernel = "tw_coefficient_tiles",
                        .definitions = shape.definitions(),
                        .group_size = shape.group_size,
                        .tile = shape.group_size * shape.items,
                        .products = products};
  launch(p, where, queue);
}

void run_tiles(const problem& p, const registry::bindings& where, const tuning& t, backend::queue& queue) {
  multiply_by_tiles(p, where, t, queue, 1);
}

std::string tiles_unsupported(const problem& p, const backend::device& on, const tuning& t) {
  const tile_shape shape(p, on.info(), t);
  return backend::opencl::too_large(on.info(), shape.group_size, shape.local_elements() * factor_bytes(p));
}

// karatsuba

constexpr unsigned element_group = 256;  // work-group size of the kernels with one item per element

std::uint64_t groups_for(std::uint64_t elements) { return ceil_div(elements, element_group); }

/// Combines level by level, alternating between the two halves of the workspace. The root goes to the result.
void combine(const karatsuba_tree& tree, backend::memory children, backend::memory nodes, backend::memory result,
             std::uint64_t total, cl_kernel kernel, backend::opencl::queue& queue) {
  const auto first = [](const backend::memory& m) { return m.offset / sizeof(std::uint64_t); };
  std::uint64_t length = tree.leaf, count = tree.leaves / 3;
  for (; count > 1; count /= 3, length *= 2) {
    const std::uint64_t all = count * 4 * length;
    queue.launch_tiles(kernel, groups_for(all), element_group, children, first(children), length, nodes, first(nodes),
                       all);
    std::swap(children, nodes);
  }
  queue.launch_tiles(kernel, groups_for(total), element_group, children, first(children), length, result, first(result),
                     total);
}

void run_karatsuba(const problem& p, const registry::bindings& where, const tuning& t, backend::queue& on) {
  const sizes s(p);
  const karatsuba_tree tree(s, t);
  const tuning tile_tuning = registry::default_tuning(tile_axes);
  if (tree.depth == 0) return run_tiles(p, where, tile_tuning, on);
  auto& queue = static_cast<backend::opencl::queue&>(on);
  auto& program = queue.program(embedded::polymul_karatsuba_cl, backend::opencl::definitions_of(p.type, op::sum));
  const backend::buffer workspace(queue, tree.workspace_bytes());
  const backend::memory room = workspace;
  registry::bindings leaves;
  for (unsigned i = 0; i < 2; ++i) {
    leaves.in[i] = room.at(i * tree.factor_bytes(), tree.factor_bytes());
    queue.launch_tiles(program.kernel("tw_split"), groups_for(tree.leaves * tree.leaf), element_group, where.in[i],
                       where.in[i].offset / size_of(p.type), i == 0 ? s.n : s.m, tree.leaf, tree.depth, room,
                       i * tree.leaves * tree.leaf, tree.leaves * tree.leaf);
  }
  leaves.out[0] = room.at(2 * tree.factor_bytes(), 2 * tree.factor_bytes());
  multiply_by_tiles(leaf_problem(p, tree), leaves, tile_tuning, queue, tree.leaves);
  combine(tree, leaves.out[0], room, where.out[0], s.product(), program.kernel("tw_combine"), queue);
}

std::string karatsuba_unsupported(const problem& p, const backend::device& on, const tuning& t) {
  if (is_range(p)) return std::string(whole_only);
  if (modulus_of(p) != 0) return "it computes modulo 2^64 only";
  const karatsuba_tree tree(sizes(p), t);
  const std::uint64_t most = on.info().max_allocation;
  if (most != 0 && tree.workspace_bytes() > most)
    return "its workspace of " + std::to_string(tree.workspace_bytes()) + " bytes is more than " + on.info().name +
           " can allocate at once, " + std::to_string(most) + " bytes";
  if (std::string why = backend::opencl::too_large(on.info(), element_group, 0); !why.empty()) return why;
  return tiles_unsupported(leaf_problem(p, tree), on, registry::default_tuning(tile_axes));
}

}  // namespace

std::vector<registry::variant> polymul_opencl_variants() {
  return {
      {.algorithm = "polymul",
       .backend = "opencl",
       .name = "tiles",
       .types = coefficient_types,
       .source = "several results per item in registers: Volkov 2010, Better performance at lower occupancy",
       .tuning = tile_axes,
       .unsupported = tiles_unsupported,
       .run = run_tiles},
      {.algorithm = "polymul",
       .backend = "opencl",
       .name = "local",
       .types = coefficient_types,
       .source = "operands in local memory: Kirk and Hwu 2010, Programming Massively Parallel Processors, chapter 5",
       .tuning = group_axes,
       .unsupported = local_unsupported,
       .run = run_local},
      {.algorithm = "polymul",
       .backend = "opencl",
       .name = "global",
       .types = coefficient_types,
       .source = "the definition, one work-item per coefficient",
       .tuning = group_axes,
       .unsupported = global_unsupported,
       .run = run_global},
      {.algorithm = "polymul",
       .backend = "opencl",
       .name = "karatsuba",
       .types = integer_types,
       .source = "A. Karatsuba and Yu. Ofman, Multiplication of many-digital numbers by automatic computers (1962)",
       .tuning = karatsuba_axes,
       .unsupported = karatsuba_unsupported,
       .run = run_karatsuba}};
}

}  // namespace tilewise::impl::polymul
