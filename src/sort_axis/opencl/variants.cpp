// SPDX-License-Identifier: Apache-2.0
// What:   sort_axis on OpenCL: chooses the kernels that sort a matrix's lines, by their length.
// Order:  program.cl. Equal codes are equal bits, so every method gives the same lines.
// Shape:  one work-item sorts a short line. Lines of up to a tile share a tile. Longer rows are cut into tiles, which
//         passes merge for all rows at once. Columns are transposed and back, unless so many lie side by side in a tile
//         that they fill whole sectors. Very long lines, and a single line, are separate calls of sort.
// Limits: workspace of the size of the input for lines that are longer than a tile, and for columns that are
//         transposed; works in place.
// Twins:  serial.cpp, cuda/variants.cu.
#include "backend/opencl/device.hpp"
#include "base/ceil_div.hpp"
#include "divide/each_line.hpp"
#include "sort/opencl/shared.hpp"
#include "sort_axis/problem.hpp"

#include <algorithm>
#include <bit>

namespace tilewise::embedded {
extern const std::string_view sort_axis_lines_cl, sort_axis_rows_cl, sort_axis_short_cl;
}

namespace tilewise::impl::sort_axis {

namespace {

using backend::buffer, backend::memory;
using registry::problem;
using registry::tuning;

constexpr std::array<registry::tuning_axis, 1> axes{{sort::group_axis}};
constexpr unsigned side = 32, ways = 4;  // the same numbers as in program.cl and rows.cl

constexpr std::uint64_t sector = 32;  // the smallest transfer of memory, in bytes

/// The most keys that a work-item holds: with more, registers spill. For columns it also holds the elements' places.
constexpr unsigned most_held(std::uint64_t size, bool by_rows) { return size == 8 ? 17 : by_rows ? 33 : 25; }
/// Whether one work-item sorts a line alone.
constexpr bool is_short(std::uint64_t length, std::uint64_t size) { return length <= most_held(size, true); }

/// How a work-group divides a tile among its work-items.
struct tile_shape {
  unsigned group;
  unsigned held;  // keys of an item, or of each of its short lines: TW_HELD in program.cl

  std::uint64_t room() const { return std::uint64_t{group} * held; }
  std::uint64_t length() const { return room() - held; }  // the length of the tiles of a longer row
  /// How many work-items hold a line.
  std::uint64_t items_for(std::uint64_t line) const { return std::bit_ceil(ceil_div(line, std::uint64_t{held})); }
  /// How many short lines a work-item takes: enough for a dozen loads at once.
  unsigned each() const { return std::max(1u, 12 / held); }
  std::uint64_t local_bytes(std::uint64_t line, std::uint64_t size) const {
    const std::uint64_t square = side * (side + 1), staged = room() * each();
    return (is_short(line, size) ? staged + staged / 32 + 1 : std::max(room() + 2 * held, square)) * size;
  }
};

/// The keys per work-item for lines of a given length: as few work-items as can hold a line, with little space left
/// over. Each number needs its own program.
unsigned held_for(std::uint64_t length, std::uint64_t size, bool by_rows, unsigned group) {
  constexpr std::array<unsigned, 7> numbers{3, 5, 9, 13, 17, 25, 33};
  const std::uint64_t most = most_held(size, by_rows);
  if (length > group * most) return most_held(size, true);
  const std::uint64_t each = is_short(length, size) ? length : ceil_div(length, std::bit_ceil(ceil_div(length, most)));
  return *std::ranges::lower_bound(numbers, each);
}

tile_shape tile_for(const problem& p, const device_info& on, const tuning& t) {
  const auto [tuned] = t.of(axes);
  const std::uint64_t length = std::max<std::uint64_t>(lines_of_input(p).length, 1), size = size_of(p.type);
  const auto tile = [&](unsigned group) {
    const std::uint64_t items = std::bit_ceil(ceil_div(length, std::uint64_t{most_held(size, false)}));
    const bool by_rows = axis_of(p) == axis::rows || group / items * size < sector;
    return tile_shape{group, held_for(length, size, by_rows, group)};
  };
  unsigned group = tuned != 0 ? 32u << tuned : size == 4 && length > 16 ? 128 : 256;
  while (tuned == 0 && group > 64 &&
         !backend::opencl::too_large(on, group, tile(group).local_bytes(length, size)).empty())
    group /= 2;
  return tile(group);
}

/// Where lines lie in memory, from the first element on.
struct elements {
  memory where;
  std::uint64_t first;
  registry::lines of;
};

class lines_sort {
 public:
  lines_sort(const problem& p, backend::queue& q, const tile_shape& tile)
      : of_line_(sort_of_line(p)),
        queue_(static_cast<backend::opencl::queue&>(q)),
        tile_(tile),
        words_(sort::words_of(of_line_)),
        size_(size_of(p.type)),
        length_(lines_of_input(p).length) {}

  void run(const elements& in, const elements& out) const {
    const bool by_rows = in.of.element == 1 && out.of.element == 1;
    if (is_short(length_, size_)) return sort_short(in, out, by_rows);
    if (by_rows) return sort_rows(in, out);
    if (fits_a_tile() && tile_.group / tile_.items_for(length_) * size_ >= sector) return sort_in_tiles(in, out, false);
    const buffer rows(queue_, in.of.count * length_ * size_);
    const elements there{rows, 0, {{in.of.count, length_}, axis::rows}};
    copy(in, there);
    if (are_sorts_of_their_own(there.of))
      divide::run_each_line(of_line_, there.of, there.of, {.in = {rows}, .out = {rows}}, queue_);
    else
      sort_rows(there, there);
    copy(there, out);
  }

 private:
  static std::string rows_word(bool by_rows) { return by_rows ? " -DTW_BY_ROWS=1" : " -DTW_BY_ROWS=0"; }
  bool fits_a_tile() const { return length_ <= tile_.room(); }
  cl_kernel kernel(const char* name, std::string_view source, const std::string& more = "") const {
    return queue_
        .program(source, sort::sizes_of(of_line_) + " -DTW_LOG_GROUP=" + std::to_string(std::countr_zero(tile_.group)) +
                             " -DTW_HELD=" + std::to_string(tile_.held) + more)
        .kernel(name);
  }

  std::uint32_t reciprocal() const {
    return length_ == 1 ? 0 : ~std::uint32_t{0} / static_cast<std::uint32_t>(length_) + 1;
  }

  void sort_short(const elements& in, const elements& out, bool by_rows) const {
    const unsigned each = tile_.each();
    queue_.launch_tiles(kernel("tw_sort_short", embedded::sort_axis_short_cl,
                               rows_word(by_rows) + " -DTW_EACH=" + std::to_string(each)),
                        ceil_div(in.of.count, std::uint64_t{tile_.group} * each), tile_.group, in.where, in.first,
                        in.of.line, in.of.element, out.where, out.first, out.of.line, out.of.element, in.of.count,
                        static_cast<std::uint32_t>(length_), reciprocal(), words_[0], words_[1], words_[2], words_[3]);
  }

  void sort_rows(const elements& in, const elements& out) const {
    fits_a_tile() ? sort_in_tiles(in, out, true) : sort_long_rows(in, out);
  }

  void sort_in_tiles(const elements& in, const elements& out, bool by_rows) const {
    const std::uint64_t items = tile_.items_for(length_);
    queue_.launch_tiles(
        kernel("tw_sort_lines", embedded::sort_axis_lines_cl, rows_word(by_rows)),
        ceil_div(in.of.count, tile_.group / items), tile_.group, in.where, in.first, in.of.line, in.of.element,
        out.where, out.first, out.of.line, out.of.element, in.of.count, static_cast<std::uint32_t>(length_),
        reciprocal(), static_cast<std::uint32_t>(std::countr_zero(items)), words_[0], words_[1], words_[2], words_[3]);
  }

  void copy(const elements& from, const elements& to) const {
    const std::uint64_t bands = ceil_div(from.of.count, std::uint64_t{side});
    queue_.launch_tiles(
        kernel("tw_copy_lines", fits_a_tile() ? embedded::sort_axis_lines_cl : embedded::sort_axis_rows_cl,
               fits_a_tile() ? rows_word(true) : ""),
        bands * ceil_div(length_, std::uint64_t{side}), tile_.group, from.where, from.first, from.of.line,
        from.of.element, to.where, to.first, to.of.line, to.of.element, from.of.count, length_, bands);
  }

  void sort_long_rows(const elements& in, const elements& out) const {
    constexpr unsigned split_group = 64;
    const std::uint64_t tiles = ceil_div(length_, tile_.length()), all = tiles * in.of.count;
    const unsigned passes = static_cast<unsigned>(std::bit_width(tiles - 1) + 1) / 2;
    const buffer spare(queue_, in.of.count * length_ * size_), splits(queue_, all * ways * sizeof(std::uint32_t));
    const elements spare_rows{spare, 0, {{in.of.count, length_}, axis::rows}};
    // The last of all launches writes the output.
    const auto target = [&](unsigned pass) -> const elements& { return (passes - pass) % 2 == 0 ? out : spare_rows; };
    const auto launch = [&](const char* name, const elements& from, const elements& to, const auto&... more) {
      queue_.launch_tiles(kernel(name, embedded::sort_axis_rows_cl), all, tile_.group, from.where, from.first,
                          from.of.line, to.where, to.first, to.of.line, static_cast<std::uint32_t>(length_),
                          static_cast<std::uint32_t>(tiles), words_[0], words_[1], words_[2], words_[3], more...);
    };
    launch("tw_sort_tiles", in, target(0));
    for (unsigned pass = 0; pass < passes; ++pass) {
      const elements& from = target(pass);
      const auto run = static_cast<std::uint32_t>(tile_.length() << 2 * pass);
      queue_.launch_tiles(kernel("tw_split_tiles", embedded::sort_axis_rows_cl),
                          ceil_div(all, std::uint64_t{split_group}), split_group, from.where, from.first, from.of.line,
                          static_cast<std::uint32_t>(length_), static_cast<std::uint32_t>(tiles), all, run,
                          memory(splits));
      launch("tw_merge_tiles", from, target(pass + 1), run, memory(splits),
             std::uint32_t{pass + 1 == passes} * sort::decode);
    }
  }

  problem of_line_;
  backend::opencl::queue& queue_;
  tile_shape tile_;
  std::array<base::scalar_value, 4> words_;
  std::uint64_t size_, length_;
};

void run(const problem& p, const registry::bindings& where, const tuning& t, backend::queue& q) {
  const registry::lines from = lines_of_input(p);
  if (from.count == 0 || from.length == 0) return;
  if (are_sorts_of_their_own(p)) return divide::run_each_line(sort_of_line(p), from, lines_of_output(p), where, q);
  const std::uint64_t size = size_of(p.type);
  lines_sort(p, q, tile_for(p, q.device().info(), t))
      .run({where.in[0], where.in[0].offset / size, from},
           {where.out[0], where.out[0].offset / size, lines_of_output(p)});
}

std::string unsupported(const problem& p, const backend::device& on, const tuning& t) {
  if (are_sorts_of_their_own(lines_of_input(p)))
    if (std::string why = divide::each_line_unsupported(sort_of_line(p), on); !why.empty()) return why;
  const tile_shape tile = tile_for(p, on.info(), t);
  return backend::opencl::too_large(on.info(), tile.group, tile.local_bytes(lines_of_input(p).length, size_of(p.type)));
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
