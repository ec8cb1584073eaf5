// SPDX-License-Identifier: Apache-2.0
// What:   reduce_axis on OpenCL: whole tiles level by level, then what is left on all levels.
// Order:  reduce_axis.cl.
// Shape:  one launch where lines are shorter than a tile is long, and one more for each level of tiles.
// Limits: local memory for one tile of elements; f64 where the device has it.
// Twins:  reduce_axis_serial.cpp.
#include "backend/opencl/opencl_device.hpp"
#include "backend/opencl/opencl_queue.hpp"
#include "base/ceil_div.hpp"
#include "order/block_tree.hpp"
#include "reduce_axis/reduce_axis_problem.hpp"
#include "reduce_axis/reduce_axis_tile.hpp"
#include "registry/variant.hpp"

namespace tilewise::embedded {
extern const std::string_view reduce_axis_cl;
}

namespace tilewise::impl::reduce_axis {

namespace {

using backend::memory;
using registry::problem;
using registry::tuning;

constexpr std::array<registry::tuning_axis, 2> axes{
    {{"group_size", order::block_tree_groups, 256}, {"items", order::block_tree_items, 16}}};

base::scalar_value init_value(const problem& p) {
  return with_type(p.type, [&]<class T>(T) { return base::scalar_value::of(first_of<T>(p).value_or(T(0))); });
}

void run(const problem& p, const registry::bindings& where, const tuning& t, backend::queue& on) {
  const auto [group_size, items] = t.of(axes);
  const registry::lines of = lines_of(p);
  if (of.count == 0) return;
  auto& queue = static_cast<backend::opencl::queue&>(on);
  const order::block_tree tree{group_size, items};
  const std::size_t size = size_of(p.type);
  auto& program = queue.program(embedded::reduce_axis_cl,
                                backend::opencl::definitions_of(p.type, operation_of(p)) + tree.definitions());
  const line_tile tile = tile_for(p, group_size, tree.tile());
  const std::uint64_t bands = ceil_div(of.count, tile.lines()), in_first = where.in[0].offset / size;
  const backend::buffer values(queue, tile.values_of(of) * size);

  memory from = where.in[0];
  std::uint64_t from_first = in_first, to = 0, element = of.element, line = of.line;
  std::uint32_t by_rows = tile.by_rows;
  for (std::uint64_t tiles = of.length >> tile.log_length; tiles != 0; tiles >>= tile.log_length) {
    queue.launch_tiles(program.kernel("tw_tiles"), tiles * bands, group_size, from, from_first, element, line, of.count,
                       tile.log_length, tile.log_lines, by_rows, memory(values), to);
    from = values;
    from_first = to;
    to += tiles * of.count;
    element = of.count;
    line = 1;
    by_rows = 0;
  }
  queue.launch_tiles(program.kernel("tw_finish"), bands, group_size, where.in[0], in_first, of.element, of.line,
                     of.count, of.length, tile.log_length, tile.log_lines, tile.by_rows, memory(values), where.out[0],
                     where.out[0].offset / size, init_value(p), has_init(p) ? 1u : 0u);
}

std::string unsupported(const problem& p, const backend::device& on, const tuning& t) {
  const auto [group_size, items] = t.of(axes);
  return backend::opencl::too_large(on.info(), group_size,
                                    order::block_tree{group_size, items}.tile() * size_of(p.type));
}

}  // namespace

std::vector<registry::variant> reduce_axis_opencl_variants() {
  return {{.algorithm = "reduce_axis",
           .backend = "opencl",
           .name = "",
           .types = all_dtypes,
           .source = "recursive doubling: Hillis and Steele 1986, Data parallel algorithms",
           .tuning = axes,
           .unsupported = unsupported,
           .run = run}};
}

}  // namespace tilewise::impl::reduce_axis
