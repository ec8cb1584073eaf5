// SPDX-License-Identifier: Apache-2.0
// What:   segment_reduce on OpenCL: segments within a tile by one group each tile, the others by chunks, level by level.
// Order:  program.cl.
// Shape:  the host waits for the survey, which finds false offsets and counts the long segments; without those one
//         launch follows.
// Limits: local memory for one tile of elements; f64 where the device has it.
// Twins:  serial.cpp.
#include "backend/opencl/device.hpp"
#include "registry/byte_tree.hpp"
#include "registry/variant.hpp"
#include "segment_reduce/opencl/survey.hpp"
#include "segment_reduce/problem.hpp"

namespace tilewise::embedded {
extern const std::string_view segment_reduce_cl;
}

namespace tilewise::impl::segment_reduce {

namespace {

using backend::memory;
using registry::problem;
using registry::tuning;

void reduce_segments(const problem& p, const registry::bindings& where, const order::block_tree& tree,
                     backend::opencl::queue& queue) {
  const std::size_t size = size_of(p.type);
  base::scalar_value first{}, empty{};
  with_type(p.type, [&]<class T>(T) {
    order::with_operator(operation_of(p), [&]<class Op>(Op) {
      first = base::scalar_value::of(first_of<T, Op>(p));
      empty = base::scalar_value::of(empty_value<T, Op>(p));
    });
  });
  auto& program = queue.program(embedded::segment_reduce_cl,
                                backend::opencl::definitions_of(p.type, operation_of(p)) + tree.definitions());
  const survey found(segmentation_of(p), where.in[1], tree, queue, program);
  const memory in = where.in[0], out = where.out[0];
  const chunk_values chunks(found, in, size);
  const std::uint64_t in_first = in.offset / size, out_first = out.offset / size;
  queue.launch_tiles(program.kernel("tw_segments"), found.tiles(), tree.group_size, in, in_first, found.offsets(),
                     found.offsets_first(), found.border(), first, empty, out, out_first);
  if (found.long_segments() == 0) return;
  queue.launch_tiles(program.kernel("tw_finish"), found.long_segments(), tree.group_size, in, in_first, p.n(),
                     chunks.values(), found.offsets(), found.offsets_first(), found.long_segment(), first, out,
                     out_first);
}

void run(const problem& p, const registry::bindings& where, const tuning& t, backend::queue& on) {
  const auto [group_size, items] = t.of(registry::block_tree_axes);
  if (segments_of(p) == 0) return require_segments_on(segmentation_of(p), where.in[1], on);
  reduce_segments(p, where, {group_size, items}, static_cast<backend::opencl::queue&>(on));
}

std::string unsupported(const problem& p, const backend::device& on, const tuning& t) {
  const auto [group_size, items] = t.of(registry::block_tree_axes);
  const std::uint64_t lists = 4 * 64;  // of longer segments
  return backend::opencl::too_large(on.info(), group_size,
                                    order::block_tree{group_size, items}.tile() * size_of(p.type) + lists);
}

}  // namespace

std::vector<registry::variant> segment_reduce_opencl_variants() {
  return {{.algorithm = "segment_reduce",
           .backend = "opencl",
           .name = "",
           .types = all_dtypes,
           .source = "merge-based division of work: Merrill and Garland, Merge-based parallel SpMV, SC 2016",
           .tuning = registry::block_tree_axes,
           .unsupported = unsupported,
           .run = run}};
}

}  // namespace tilewise::impl::segment_reduce
