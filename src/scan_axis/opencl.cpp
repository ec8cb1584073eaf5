// SPDX-License-Identifier: Apache-2.0
// What:   scan_axis on OpenCL: tiles' values level by level, then the prefixes back down.
// Order:  opencl.cl; each level's tiles are the next level's elements, side by side like columns.
// Shape:  one launch where a tile holds a whole line, and two more for each further level.
// Limits: local memory for one tile of elements; f64 where the device has it; works in place.
// Twins:  serial.cpp.
#include "order/operators.hpp"
#include "reduce_axis/opencl/shared.hpp"
#include "scan_axis/problem.hpp"

namespace tilewise::embedded {
extern const std::string_view scan_axis_cl;
}

namespace tilewise::impl::scan_axis {

namespace {

using backend::memory;
using registry::problem;
using registry::tuning;
using namespace reduce_axis;

// The same numbers as in opencl.cl.
enum mode_bits : std::uint32_t { inclusive = 1, spine = 2, has_carries = 4 };

class sweep {
 public:
  sweep(backend::opencl::queue& on, const problem& p, const order::block_tree& tree)
      : queue_(on), tree_(tree), size_(size_of(p.type)) {
    definitions_ = backend::opencl::definitions_of(p.type, operation_of(p)) + tree.definitions();
    with_type(p.type, [&]<class T>(T) {
      order::with_operator(operation_of(p),
                           [&]<class Op>(Op) { init_ = base::scalar_value::of(left_of_results<T, Op>(p)); });
    });
  }

  void level(const line_elements& in, const line_elements& out, std::uint32_t mode) const {
    const tile_shape tile = shape_of(in, tree_);
    auto& program = queue_.program(embedded::scan_axis_cl, definitions_ + shape_definitions(tile, size_));
    const std::uint64_t count = in.of.count, whole = in.of.length >> tile.log_length;
    const bool is_one = tile.tiles_of(in.of.length) == 1;
    const backend::buffer carries(queue_, is_one ? 0 : (whole + 1) * count * size_);
    if (!is_one) {  // first the tiles' values, scanned in place
      queue_.launch_tiles(program.kernel("tw_values"), whole * tile.bands, tree_.group_size, in.where, in.first,
                          lines_argument(in.of), shape_argument(tile), memory(carries), std::uint64_t{0});
      const line_elements values = beside_each_other(carries, whole, count);
      level(values, values, spine);
      mode |= has_carries;
    }
    const std::uint64_t groups = tile.groups_for(in.of);
    queue_.launch_tiles(program.kernel(tile.has_short_lines() ? "tw_prefixes_short" : "tw_prefixes"), groups,
                        tree_.group_size, in.where, in.first, lines_argument(in.of), shape_argument(tile),
                        memory(carries), init_, mode, out.where, out.first, lines_argument(out.of), groups - 1);
  }

 private:
  backend::opencl::queue& queue_;
  order::block_tree tree_;
  std::size_t size_;
  std::string definitions_;
  base::scalar_value init_{};
};

void run(const problem& p, const registry::bindings& where, const tuning& t, backend::queue& on) {
  const auto [group_size, items] = t.of(registry::block_tree_axes);
  const registry::lines from = lines_of_input(p);
  if (from.count == 0 || from.length == 0) return;
  const std::size_t size = size_of(p.type);
  const bool by_rows = axis_of(p) == axis::rows;
  const bool is_packed = registry::is_packed(layout_of_input(p)) && registry::is_packed(layout_of_output(p));
  const sweep all(static_cast<backend::opencl::queue&>(on), p, {group_size, items});
  all.level({where.in[0], where.in[0].offset / size, from, by_rows, is_packed},
            {where.out[0], where.out[0].offset / size, lines_of_output(p), by_rows, is_packed},
            is_exclusive(p) ? 0u : inclusive);
}

}  // namespace

std::vector<registry::variant> scan_axis_opencl_variants() {
  return {{.algorithm = "scan_axis",
           .backend = "opencl",
           .name = "",
           .types = all_dtypes,
           .source = "Blelloch 1990, Prefix sums and their applications, for each row or column",
           .tuning = registry::block_tree_axes,
           .unsupported = tile_too_large,
           .run = run}};
}

}  // namespace tilewise::impl::scan_axis
