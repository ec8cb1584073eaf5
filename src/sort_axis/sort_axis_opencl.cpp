// SPDX-License-Identifier: Apache-2.0
// What:   sort_axis on OpenCL: which of the kernels sort a matrix's lines, by their length.
// Order:  sort_axis.cl. Equal codes are equal bits, so every method gives the same lines.
// Shape:  lines of up to a tile share one. Longer ones are copied, each with room up to a power of two of sort's tiles,
//         and sort/opencl:merge_path's passes merge all of them at once. Columns that do not lie side by side in a tile
//         by whole sectors are transposed, and back. Very long rows, and a single line, are sorts of their own.
// Limits: workspace of up to four times the input where lines are longer than a tile; works in place.
// Twins:  sort_axis_serial.cpp.
#include "backend/opencl/opencl_device.hpp"
#include "base/ceil_div.hpp"
#include "registry/each_line.hpp"
#include "sort/sort_opencl.hpp"
#include "sort_axis/sort_axis_problem.hpp"

#include <bit>

namespace tilewise::embedded {
extern const std::string_view sort_axis_cl;
}

namespace tilewise::impl::sort_axis {

namespace {

using backend::memory;
using registry::problem;
using registry::tuning;

constexpr std::array<registry::tuning_axis, 1> axes{{sort::group_axis}};
constexpr unsigned places = 8, side = 32;  // the same numbers as in sort_axis.cl

/// The local memory of all kernels that a sort may take.
std::uint64_t local_bytes(const problem& of_line, const sort::opencl_tiles& tiles) {
  const std::uint64_t square = side * (side + 1);
  return std::max(sort::merge_path_bytes(of_line, tiles),
                  std::max<std::uint64_t>(tiles.group_size * places, square) * size_of(of_line.type));
}

/// Where lines lie in memory, from the first element on.
struct elements {
  memory where;
  std::uint64_t first;
  registry::lines of;
};

class lines_sort {
 public:
  lines_sort(const problem& p, backend::queue& q, unsigned group)
      : of_line_(sort_of_line(p)),
        queue_(static_cast<backend::opencl::queue&>(q)),
        tiles_(sort::tiles_for(of_line_, q.device().info(), group, local_bytes)),
        program_(queue_.program(embedded::sort_axis_cl, sort::sizes_of(of_line_) + tiles_.definitions())),
        words_(sort::words_of(of_line_)),
        size_(size_of(p.type)) {}

  void run(const elements& in, const elements& out) const {
    const std::uint64_t length = in.of.length, tile = tiles_.group_size * places;
    if (length > tile) return sort_long(in, out);
    const bool by_rows = in.of.element == 1 && out.of.element == 1;
    if (by_rows || tile / std::bit_ceil(length) * size_ >= sector) return sort_short(in, out);
    const backend::buffer rows(queue_, in.of.count * length * size_);
    const elements there{rows, 0, {{in.of.count, length}, axis::rows}};
    copy(in, there, 0);
    sort_short(there, there);
    copy(there, out, 0);
  }

 private:
  static constexpr std::uint64_t sector = 32;  // bytes that memory moves at least

  void sort_short(const elements& in, const elements& out) const {
    const std::uint64_t length = in.of.length, places_each = std::bit_ceil(length);
    queue_.launch_tiles(
        program_.kernel("tw_sort_lines"), ceil_div(in.of.count, tiles_.group_size * places / places_each),
        tiles_.group_size, in.where, in.first, in.of.line, in.of.element, out.where, out.first, out.of.line,
        out.of.element, in.of.count, static_cast<std::uint32_t>(length),
        static_cast<std::uint32_t>(std::countr_zero(places_each)), words_[0], words_[1], words_[2], words_[3]);
  }

  /// As many elements of each line as are there; up to the end of `to`, if that is longer, the greatest code.
  void copy(const elements& from, const elements& to, std::uint32_t mode) const {
    const std::uint64_t bands = ceil_div(from.of.count, std::uint64_t{side}), room = to.of.length;
    queue_.launch_tiles(program_.kernel("tw_copy_lines"), bands * ceil_div(room, std::uint64_t{side}),
                        tiles_.group_size, from.where, from.first, from.of.line, from.of.element, to.where, to.first,
                        to.of.line, to.of.element, from.of.count, from.of.length, room, bands, words_[0], words_[1],
                        words_[2], words_[3], mode);
  }

  void sort_long(const elements& in, const elements& out) const {
    const std::uint64_t room = tiles_.tile() * std::bit_ceil(tiles_.tiles(in.of.length)), count = in.of.count;
    const backend::buffer rows(queue_, count * room * size_);
    const elements there{rows, 0, {{count, room}, axis::rows}};
    problem of_codes = of_line_;
    of_codes.type = size_ == 4 ? dtype::u32 : dtype::u64;
    of_codes.setting[0] = static_cast<std::uint8_t>(sort_order::ascending);
    of_codes.shape = {count * room};
    copy(in, there, sort::encode);
    sort::sort_runs_by_merging(of_codes, {.in = {rows}, .out = {rows}}, tiles_, room, 0, queue_);
    copy(there, out, sort::decode);
  }

  problem of_line_;
  backend::opencl::queue& queue_;
  sort::opencl_tiles tiles_;
  backend::opencl::program& program_;
  std::array<base::scalar_value, 4> words_;
  std::uint64_t size_;
};

void run(const problem& p, const registry::bindings& where, const tuning& t, backend::queue& q) {
  const auto [group] = t.of(axes);
  const registry::lines from = lines_of_input(p);
  if (from.count == 0 || from.length == 0) return;
  if (are_sorts_of_their_own(p)) return run_each_line(sort_of_line(p), from, lines_of_output(p), where, q);
  const std::uint64_t size = size_of(p.type);
  lines_sort(p, q, group)
      .run({where.in[0], where.in[0].offset / size, from},
           {where.out[0], where.out[0].offset / size, lines_of_output(p)});
}

std::string unsupported(const problem& p, const backend::device& on, const tuning& t) {
  const auto [group] = t.of(axes);
  return sort::tiles_unsupported(sort_of_line(p), on.info(), group, local_bytes);
}

}  // namespace

std::vector<registry::variant> sort_axis_opencl_variants() {
  return {{.algorithm = "sort_axis",
           .backend = "opencl",
           .name = "",
           .types = all_dtypes,
           .source = "Batcher 1968, Sorting networks and their applications; Green, McColl and Bader 2012, GPU merge "
                     "path; of each row or column",
           .tuning = axes,
           .unsupported = unsupported,
           .run = run}};
}

}  // namespace tilewise::impl::sort_axis
