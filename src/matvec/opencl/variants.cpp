// SPDX-License-Identifier: Apache-2.0
// What:   matvec on OpenCL: whole rows or, if rows are few and long, pieces of rows and the levels above them.
// Order:  program.cl.
// Shape:  one launch; for pieces, one launch per level of tiles and one more.
// Limits: local memory for one tile of elements; f64 where the device has it.
// Twins:  serial.cpp.
#include "backend/opencl/device.hpp"
#include "backend/opencl/queue.hpp"
#include "base/ceil_div.hpp"
#include "matvec/problem.hpp"
#include "order/block_tree.hpp"
#include "registry/variant.hpp"

#include <algorithm>
#include <bit>

namespace tilewise::embedded {
extern const std::string_view matvec_cl;
}

namespace tilewise::impl::matvec {

namespace {

using registry::problem;
using registry::tuning;

constexpr std::array<registry::tuning_axis, 2> axes{
    {{"group_size", order::block_tree_groups, 128}, {"items", order::block_tree_items, 16}}};

/// There are separate kernels for rows that all begin at multiples of 16 bytes. A kernel that checks each row took 24
/// us instead of 21 for f32 of 4096 x 4096 on an H200.
std::string definitions_of(const problem& p, bool rows_in_units, const device_info& on) {
  constexpr unsigned first_with_hints = 70;  // compute capability 7.0 has loads past its first-level cache
  return backend::opencl::definitions_of(p.type, op::sum) + (rows_in_units ? " -DTW_IN_UNITS=1" : "") +
         (on.compute_capability >= first_with_hints ? " -DTW_PASSES_CACHE=1" : "");
}

void run(const problem& p, const registry::bindings& where, const tuning& t, backend::queue& on) {
  const auto [group_size, items] = t.of(axes);
  const sizes s(p);
  if (s.m == 0) return;
  auto& queue = static_cast<backend::opencl::queue&>(on);
  const order::block_tree tree{group_size, items};
  const std::uint64_t tile = tree.tile();
  const std::size_t size = size_of(p.type), unit = 16 / size;
  const auto [a, x] = std::array{where.in[0], where.in[1]};
  const backend::memory y = where.out[0];
  const std::uint64_t a_first = a.offset / size, x_first = x.offset / size, y_first = y.offset / size;
  const bool rows_in_units = (a_first | x_first | (s.m == 1 ? 0 : s.lda)) % unit == 0;
  auto& program =
      queue.program(embedded::matvec_cl, definitions_of(p, rows_in_units, on.device().info()) + tree.definitions());

  // One group a row keeps the device busy if there are enough of them.
  if (s.n >= tile && s.m >= 4 * std::uint64_t{on.device().info().compute_units})
    return queue.launch_tiles(program.kernel("tw_row"), s.m, group_size, a, a_first, s.lda, x, x_first, y, y_first,
                              s.n);
  const bool in_units = rows_in_units && s.n % unit == 0;
  const std::uint64_t leaves = in_units ? s.n / unit : s.n;
  if (leaves <= tile) {
    const unsigned log_pitch =
        static_cast<unsigned>(std::countr_zero(std::bit_ceil(std::max<std::uint64_t>(leaves, 1))));
    const std::uint64_t rows = tile >> log_pitch;
    queue.launch_tiles(program.kernel("tw_rows"), ceil_div(s.m, rows), group_size, a, a_first, s.lda, x, x_first, y,
                       y_first, s.m, static_cast<std::uint32_t>(leaves), in_units ? 1u : 0u, log_pitch);
    return;
  }
  std::uint64_t room = 0;
  for (std::uint64_t count = s.n / tile; count != 0; count /= tile) room += order::level_room(count);
  const backend::buffer values(queue, s.m * room * size);
  queue.launch_tiles(program.kernel("tw_pieces"), s.m * (s.n / tile), group_size, a, a_first, s.lda, x, x_first, s.m,
                     backend::memory(values), room);
  std::uint64_t from = 0;
  for (std::uint64_t count = s.n / tile; count >= tile; count /= tile) {
    const std::uint64_t to = from + order::level_room(count);
    queue.launch_tiles(program.kernel("tw_tiles"), s.m * (count / tile), group_size, backend::memory(values), room,
                       from, to, count / tile);
    from = to;
  }
  queue.launch_tiles(program.kernel("tw_finish"), s.m, group_size, a, a_first, s.lda, x, x_first, y, y_first, s.n,
                     backend::memory(values), room);
}

std::string unsupported(const problem& p, const backend::device& on, const tuning& t) {
  const auto [group_size, items] = t.of(axes);
  const std::uint64_t elements = order::block_tree{group_size, items}.tile() + 2 * std::uint64_t{group_size} + 64;
  return backend::opencl::too_large(on.info(), group_size, elements * size_of(p.type));
}

}  // namespace

std::vector<registry::variant> matvec_opencl_variants() {
  return {{.algorithm = "matvec",
           .backend = "opencl",
           .name = "",
           .types = all_dtypes,
           .source = "one group per row: Bell and Garland 2009, Implementing sparse matrix-vector multiplication; "
                     "src/order/README.md",
           .tuning = axes,
           .unsupported = unsupported,
           .run = run}};
}

}  // namespace tilewise::impl::matvec
