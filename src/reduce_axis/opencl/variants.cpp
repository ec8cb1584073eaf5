// SPDX-License-Identifier: Apache-2.0
// What:   reduce_axis on OpenCL: whole tiles, level by level; then the rest of each level, from the highest level down.
// Order:  program.cl.
// Shape:  one launch where a tile holds a whole line, and two more for each further level.
// Limits: local memory for one tile of elements; f64 where the device has it.
// Twins:  serial.cpp.
#include "order/operators.hpp"
#include "reduce_axis/opencl/shared.hpp"
#include "reduce_axis/problem.hpp"
#include "registry/variant.hpp"

namespace tilewise::embedded {
extern const std::string_view reduce_axis_cl;
}

namespace tilewise::impl::reduce_axis {

namespace {

using backend::memory;
using registry::problem;
using registry::tuning;

// The same numbers as in program.cl.
enum mode_bits : std::uint32_t { has_prefixes = 1, is_result = 2 };

/// A value for each line.
struct line_values {
  memory where;
  std::uint64_t first;
};

class reduction {
 public:
  reduction(backend::opencl::queue& on, const problem& p, const order::block_tree& tree)
      : queue_(on), tree_(tree), size_(size_of(p.type)) {
    definitions_ = backend::opencl::definitions_of(p.type, operation_of(p)) + tree.definitions();
    with_type(p.type, [&]<class T>(T) {
      order::with_operator(operation_of(p), [&]<class Op>(Op) {
        init_ = base::scalar_value::of(first_of<T>(p).value_or(Op::template identity<T>()));
      });
    });
  }

  void reduce(const line_elements& in, const line_values& out, std::uint32_t mode) const {
    const tile_shape tile = shape_of(in, tree_);
    const std::uint64_t count = in.of.count, whole = in.of.length >> tile.log_length;
    if (tile.tiles_of(in.of.length) <= 1) return finish(in, out, out, mode);
    const backend::buffer values(queue_, whole * count * size_);
    queue_.launch_tiles(program(tile).kernel("tw_values"), whole * tile.bands, tree_.group_size, in.where, in.first,
                        lines_argument(in.of), shape_argument(tile), memory(values), std::uint64_t{0});
    const line_elements blocks = beside_each_other(values, whole, count);
    const line_elements rest = in.from(whole << tile.log_length);
    if (rest.of.length == 0) return reduce(blocks, out, mode);
    const backend::buffer prefixes(queue_, count * size_);
    const line_values before{prefixes, 0};
    reduce(blocks, before, 0);
    finish(rest, before, out, mode | has_prefixes);
  }

 private:
  backend::opencl::program& program(const tile_shape& tile) const {
    return queue_.program(embedded::reduce_axis_cl, definitions_ + shape_definitions(tile, size_));
  }

  /// Reduces at most a tile of each line, continued from the prefixes if there are some.
  void finish(const line_elements& in, const line_values& prefixes, const line_values& out, std::uint32_t mode) const {
    const tile_shape tile = shape_of(in, tree_);
    queue_.launch_tiles(program(tile).kernel(tile.has_short_lines() ? "tw_finish_short" : "tw_finish"), tile.bands,
                        tree_.group_size, in.where, in.first, lines_argument(in.of), shape_argument(tile),
                        prefixes.where, init_, mode, out.where, out.first);
  }

  backend::opencl::queue& queue_;
  order::block_tree tree_;
  std::size_t size_;
  std::string definitions_;
  base::scalar_value init_{};
};

void run(const problem& p, const registry::bindings& where, const tuning& t, backend::queue& on) {
  const auto [group_size, items] = t.of(registry::block_tree_axes);
  if (lines_of(p).count == 0) return;
  const std::size_t size = size_of(p.type);
  const reduction all(static_cast<backend::opencl::queue&>(on), p, {group_size, items});
  all.reduce({where.in[0], where.in[0].offset / size, lines_of(p), axis_of(p) == axis::rows,
              registry::is_packed(layout_of(p))},
             {where.out[0], where.out[0].offset / size}, is_result);
}

}  // namespace

std::vector<registry::variant> reduce_axis_opencl_variants() {
  return {{.algorithm = "reduce_axis",
           .backend = "opencl",
           .name = "",
           .types = all_dtypes,
           .source = "recursive doubling: Hillis and Steele 1986, Data parallel algorithms",
           .tuning = registry::block_tree_axes,
           .unsupported = tile_too_large,
           .run = run}};
}

}  // namespace tilewise::impl::reduce_axis
