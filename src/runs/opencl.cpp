// SPDX-License-Identifier: Apache-2.0
// What:   runs on OpenCL: count, scan, write.
// Order:  none: nothing is computed with keys.
// Shape:  opencl.cl; keys are read twice.
// Limits: none.
// Twins:  serial.cpp, cuda.cu.
#include "backend/opencl/device.hpp"
#include "backend/opencl/queue.hpp"
#include "base/ceil_div.hpp"
#include "registry/byte_tree.hpp"
#include "registry/variant.hpp"
#include "runs/problem.hpp"

namespace tilewise::embedded {
extern const std::string_view runs_cl;
}

namespace tilewise::impl::runs {

namespace {

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning& t, backend::queue& on) {
  if (p.n() == 0) return write_none(where, on);
  auto& queue = static_cast<backend::opencl::queue&>(on);
  const auto [group_size, items] = t.of(registry::block_tree_axes);
  const order::block_tree tree{group_size, items};
  const std::uint64_t tiles = ceil_div(p.n(), std::uint64_t{tree.tile()}), size = size_of(p.type);
  const dtype bits = size == 4 ? dtype::u32 : dtype::u64;
  auto& program = queue.program(embedded::runs_cl, backend::opencl::definitions_of(bits, op::sum) + tree.definitions());
  const backend::buffer counts(queue, tiles * sizeof(std::int64_t));
  const backend::memory &keys = where.in[0], &run_keys = where.out[1], &offsets = where.out[2], count = counts;
  queue.launch_tiles(program.kernel("tw_count"), tiles, group_size, keys, keys.offset / size, p.n(), count);
  add_up(counts, where.out[0], queue);
  queue.launch_tiles(program.kernel("tw_write"), tiles, group_size, keys, keys.offset / size, p.n(), tiles, count,
                     run_keys, run_keys.offset / size, offsets, offsets.offset / sizeof(std::int64_t), room_of(p));
}

std::string unsupported(const registry::problem&, const backend::device& on, const registry::tuning& t) {
  const auto [group_size, items] = t.of(registry::block_tree_axes);
  const std::uint64_t tile = order::block_tree{group_size, items}.tile();
  return backend::opencl::too_large(on.info(), group_size, tile * 3 + group_size * sizeof(std::uint32_t));
}

}  // namespace

std::vector<registry::variant> runs_opencl_variants() {
  return {{.algorithm = "runs",
           .backend = "opencl",
           .name = "",
           .types = all_dtypes,
           .source = "count, scan, write: Blelloch, Prefix Sums and Their Applications, 1990, 1.5",
           .tuning = registry::block_tree_axes,
           .unsupported = unsupported,
           .run = run}};
}

}  // namespace tilewise::impl::runs
