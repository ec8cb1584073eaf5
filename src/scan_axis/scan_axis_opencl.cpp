// SPDX-License-Identifier: Apache-2.0
// What:   scan_axis on OpenCL: tiles' values level by level, then the prefixes back down.
// Order:  scan_axis.cl; each level's tiles are the next level's elements, side by side like columns.
// Shape:  one launch where a tile holds a whole line, and two more for each further level.
// Limits: local memory for one tile of elements; f64 where the device has it; works in place.
// Twins:  scan_axis_serial.cpp.
#include "backend/opencl/opencl_device.hpp"
#include "backend/opencl/opencl_queue.hpp"
#include "base/ceil_div.hpp"
#include "order/block_tree.hpp"
#include "order/operators.hpp"
#include "registry/variant.hpp"
#include "scan_axis/scan_axis_problem.hpp"
#include "scan_axis/scan_axis_tile.hpp"

namespace tilewise::embedded {
extern const std::string_view scan_axis_cl;
}

namespace tilewise::impl::scan_axis {

namespace {

using backend::memory;
using registry::problem;
using registry::tuning;

// The same numbers as in scan_axis.cl.
enum mode_bits : std::uint32_t { inclusive = 1, spine = 2 };

constexpr std::array<registry::tuning_axis, 2> axes{
    {{"group_size", order::block_tree_groups, 256}, {"items", order::block_tree_items, 16}}};

/// Lines of elements in memory, from the first on.
struct elements {
  memory where;
  std::uint64_t first;
  registry::lines of;
};

/// What is the same on every level.
struct sweep {
  backend::opencl::queue& queue;
  backend::opencl::program& program;
  order::block_tree tree;
  base::scalar_value init;
  std::size_t element_size;

  void level(const elements& in, const elements& out, bool by_rows, std::uint32_t mode) const {
    const std::uint64_t count = in.of.count, n = in.of.length;
    const line_tile tile = tile_for(count, n, by_rows, tree.group_size, tree.items);
    const std::uint32_t shape = tile.log_length | tile.log_lines << 8 | tile.log_run << 16 | tile.by_rows << 24;
    const std::uint64_t bands = ceil_div(count, tile.lines()), whole = n / tile.length();
    const bool has_carries = n > tile.length();
    const backend::buffer carries(queue, has_carries ? (whole + 1) * count * element_size : 0);
    if (has_carries) {  // first the tiles' values, scanned in place
      queue.launch_tiles(program.kernel("tw_values"), whole * bands, tree.group_size, in.where, in.first, in.of.element,
                         in.of.line, count, shape, memory(carries));
      const elements values{carries, 0, {{whole, count, count}, axis::columns}};
      level(values, values, false, spine);
    }
    const std::uint64_t groups = ceil_div(n, tile.length()) * bands;
    queue.launch_tiles(program.kernel("tw_prefixes"), groups, tree.group_size, in.where, in.first, in.of.element,
                       in.of.line, count, n, shape, memory(carries), has_carries ? 1u : 0u, out.where, out.first,
                       out.of.element, out.of.line, init, mode, groups - 1);
  }
};

void run(const problem& p, const registry::bindings& where, const tuning& t, backend::queue& on) {
  const auto [group_size, items] = t.of(axes);
  const registry::lines from = lines_of_input(p);
  if (from.count == 0 || from.length == 0) return;
  auto& queue = static_cast<backend::opencl::queue&>(on);
  const order::block_tree tree{group_size, items};
  const std::size_t size = size_of(p.type);
  const std::string definitions = backend::opencl::definitions_of(p.type, operation_of(p)) + tree.definitions();
  const base::scalar_value init = with_type(p.type, [&]<class T>(T) {
    return order::with_operator(operation_of(p),
                                [&]<class Op>(Op) { return base::scalar_value::of(left_of_results<T, Op>(p)); });
  });
  const sweep all{queue, queue.program(embedded::scan_axis_cl, definitions), tree, init, size};
  all.level({where.in[0], where.in[0].offset / size, from},
            {where.out[0], where.out[0].offset / size, lines_of_output(p)}, axis_of(p) == axis::rows,
            is_exclusive(p) ? 0u : inclusive);
}

std::string unsupported(const problem& p, const backend::device& on, const tuning& t) {
  const auto [group_size, items] = t.of(axes);
  const std::uint64_t tile = order::block_tree{group_size, items}.tile();
  return backend::opencl::too_large(on.info(), group_size, (tile + tile / 32 + 1 + 2 * group_size) * size_of(p.type));
}

}  // namespace

std::vector<registry::variant> scan_axis_opencl_variants() {
  return {{.algorithm = "scan_axis",
           .backend = "opencl",
           .name = "",
           .types = all_dtypes,
           .source = "Blelloch 1990, Prefix sums and their applications, for each row or column",
           .tuning = axes,
           .unsupported = unsupported,
           .run = run}};
}

}  // namespace tilewise::impl::scan_axis
