// SPDX-License-Identifier: Apache-2.0
// What:   segment_scan on OpenCL: segments within a tile by one group each tile, the others by chunks: their values
//         level by level, then the prefixes back down.
// Order:  program.cl.
// Shape:  the host waits for the survey, which finds false offsets and counts the long segments; without those one
//         launch follows.
// Limits: local memory for one tile of elements; f64 where the device has it; works in place.
// Twins:  serial.cpp.
#include "backend/opencl/device.hpp"
#include "registry/byte_tree.hpp"
#include "registry/variant.hpp"
#include "segment_reduce/opencl/survey.hpp"
#include "segment_scan/problem.hpp"

namespace tilewise::embedded {
extern const std::string_view segment_scan_cl;
}

namespace tilewise::impl::segment_scan {

namespace {

using backend::memory;
using registry::problem;
using registry::tuning;

// The same number as in order/outputs.cl.
constexpr std::uint32_t inclusive = 1;

void scan_segments(const problem& p, const registry::bindings& where, const order::block_tree& tree,
                   backend::opencl::queue& queue) {
  const std::size_t size = size_of(p.type);
  const std::uint32_t mode = is_exclusive(p) ? 0u : inclusive;
  base::scalar_value first{};
  with_type(p.type, [&]<class T>(T) {
    order::with_operator(operation_of(p), [&]<class Op>(Op) { first = base::scalar_value::of(first_of<T, Op>(p)); });
  });
  auto& program = queue.program(embedded::segment_scan_cl,
                                backend::opencl::definitions_of(p.type, operation_of(p)) + tree.definitions());
  const segment_reduce::survey found(segmentation_of(p), where.in[1], tree, queue, program);
  const memory in = where.in[0], out = where.out[0];
  const segment_reduce::chunk_values chunks(found, in, size);  // before anything is written
  const std::uint64_t in_first = in.offset / size, out_first = out.offset / size;
  queue.launch_tiles(program.kernel("tw_segments"), found.tiles(), tree.group_size, in, in_first, found.offsets(),
                     found.offsets_first(), found.border(), first, mode, out, out_first);
  if (found.long_segments() == 0) return;
  unsigned level = 0;
  while (found.windows_on(level + 1) != 0) ++level;
  for (;; --level) {
    queue.launch_tiles(program.kernel("tw_descend"), found.windows_on(level + 1) + found.long_segments(),
                       tree.group_size, in, in_first, p.n(), level, found.offsets(), found.offsets_first(),
                       chunks.owner(), found.long_segment(), chunks.values(), first, mode, out, out_first);
    if (level == 0) return;
  }
}

void run(const problem& p, const registry::bindings& where, const tuning& t, backend::queue& on) {
  const auto [group_size, items] = t.of(registry::block_tree_axes);
  if (segments_of(p) == 0) return segment_reduce::require_segments_on(segmentation_of(p), where.in[1], on);
  scan_segments(p, where, {group_size, items}, static_cast<backend::opencl::queue&>(on));
}

std::string unsupported(const problem& p, const backend::device& on, const tuning& t) {
  const auto [group_size, items] = t.of(registry::block_tree_axes);
  const std::uint64_t tile = order::block_tree{group_size, items}.tile() * size_of(p.type);
  const std::uint64_t left_out = tile / 128 * size_of(p.type);  // between runs, as in order/stage.cl
  const std::uint64_t prefixes = 2 * group_size * size_of(p.type), lists = 4 * 64;
  return backend::opencl::too_large(on.info(), group_size, tile + left_out + prefixes + lists);
}

}  // namespace

std::vector<registry::variant> segment_scan_opencl_variants() {
  return {{.algorithm = "segment_scan",
           .backend = "opencl",
           .name = "",
           .types = all_dtypes,
           .source = "merge-based division of work: Merrill and Garland, Merge-based parallel SpMV, SC 2016; G. E. "
                     "Blelloch, Prefix Sums and Their Applications (1990)",
           .tuning = registry::block_tree_axes,
           .unsupported = unsupported,
           .run = run}};
}

}  // namespace tilewise::impl::segment_scan
