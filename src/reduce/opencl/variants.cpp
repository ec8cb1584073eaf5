// SPDX-License-Identifier: Apache-2.0
// What:   reduce/opencl:two_phase: whole tiles, level by level; then one group finishes the rest of all levels.
// Order:  program.cl.
// Shape:  one launch per level and one more; two launches up to tile^2 elements.
// Limits: local memory for one tile of elements; f64 where the device has it.
// Twins:  serial.cpp.
#include "backend/opencl/device.hpp"
#include "backend/opencl/queue.hpp"
#include "reduce/problem.hpp"
#include "registry/byte_tree.hpp"
#include "registry/variant.hpp"

#include <bit>

namespace tilewise::embedded {
extern const std::string_view reduce_cl;
}

namespace tilewise::impl::reduce {

namespace {

using backend::buffer;
using backend::memory;
using registry::problem;
using registry::tuning;

void run(const problem& p, const registry::bindings& where, const tuning& t, backend::queue& on) {
  const auto [group_size, items] = t.of(registry::block_tree_axes);
  auto& queue = static_cast<backend::opencl::queue&>(on);
  const order::block_tree tree{group_size, items};
  const int log_tile = std::countr_zero(tree.tile());
  const std::size_t size = size_of(p.type);
  auto& program =
      queue.program(embedded::reduce_cl, backend::opencl::definitions_of(p.type, operation_of(p)) + tree.definitions());
  std::uint64_t room = 0;
  for (std::uint64_t count = p.n() >> log_tile; count != 0; count >>= log_tile) room += order::level_room(count);
  const buffer values(queue, room * size);
  const std::uint64_t in_first = where.in[0].offset / size;

  memory from = where.in[0];
  std::uint64_t from_first = in_first, to_first = 0;
  for (std::uint64_t tiles = p.n() >> log_tile; tiles != 0; tiles >>= log_tile) {
    queue.launch_tiles(program.kernel("tw_tiles"), tiles, group_size, from, from_first, tiles << log_tile,
                       memory(values), to_first);
    from = values;
    from_first = to_first;
    to_first += order::level_room(tiles);
  }
  queue.launch_tiles(program.kernel("tw_finish"), 1, group_size, where.in[0], in_first, p.n(), memory(values),
                     where.out[0], where.out[0].offset / size, init_value(p), has_init(p) ? 1u : 0u);
}

std::string unsupported(const problem& p, const backend::device& on, const tuning& t) {
  const auto [group_size, items] = t.of(registry::block_tree_axes);
  return backend::opencl::too_large(on.info(), group_size,
                                    order::block_tree{group_size, items}.tile() * size_of(p.type));
}

}  // namespace

std::vector<registry::variant> reduce_opencl_variants() {
  return {{.algorithm = "reduce",
           .backend = "opencl",
           .name = "two_phase",
           .types = all_dtypes,
           .source = "recursive doubling: Hillis and Steele 1986, Data parallel algorithms",
           .tuning = registry::block_tree_axes,
           .unsupported = unsupported,
           .run = run}};
}

}  // namespace tilewise::impl::reduce
