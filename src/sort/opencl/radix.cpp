// SPDX-License-Identifier: Apache-2.0
// What:   sort/opencl:radix.
// Order:  radix.cl.
// Shape:  one pass per digit: histograms of the tiles, their scan, the scatter. If there is only one tile, one launch.
// Limits: local memory for one tile and the offsets of its digits.
// Twins:  serial.cpp.
#include "backend/opencl/device.hpp"
#include "base/ceil_div.hpp"
#include "sort/opencl/shared.hpp"

namespace tilewise::embedded {
extern const std::string_view sort_radix_cl;
}

namespace tilewise::impl::sort {

namespace {

using registry::problem;
using registry::tuning;

constexpr std::uint64_t chunk_rows = 64;  // TW_ROWS in radix.cl
constexpr std::uint64_t few_rows = 32;    // up to this many rows are added faster than one more launch starts
constexpr unsigned max_digits = 256;

// Which kernel adds up the rows; the same numbers as in radix.cl.
enum adder : std::uint32_t { by_tiles = 0, by_chunks = 1, by_spine = 2 };

constexpr std::array<unsigned, 3> digit_widths{4, 6, 8};
// "launch": tw_spine adds up the rows even if there are few.
constexpr std::array<unsigned, 2> spine_values{0, 1};
constexpr std::array<std::string_view, 2> spine_words{"auto", "launch"};
constexpr std::array<registry::tuning_axis, 3> axes{
    {{"digit_bits", digit_widths, 8}, group_axis, {"spine", spine_values, 0, spine_words}}};

std::uint64_t local_bytes(const problem& p, const opencl_tiles& tiles) {
  return tiles.local_bytes(p) + max_digits * sizeof(std::uint64_t);  // and the digits' offsets
}

adder adder_for(std::uint64_t tiles, std::uint64_t chunks) {
  return tiles <= few_rows ? by_tiles : chunks <= few_rows ? by_chunks : by_spine;
}

void run_pass(const opencl_sort& sort, const opencl_tiles& tiles, unsigned pass, backend::memory rows,
              backend::memory totals, std::uint32_t shift, std::uint32_t bits, bool launches_spine) {
  const unsigned group = tiles.group_size;
  const std::uint64_t count = tiles.tiles(sort.count()), chunks = ceil_div(count, chunk_rows);
  sort.look(sort.kernel("tw_count"), count, group, pass, rows, shift, bits);
  const adder by = launches_spine ? by_spine : adder_for(count, chunks);
  if (by != by_tiles) sort.queue().launch_tiles(sort.kernel("tw_columns"), chunks, group, rows, count, totals, bits);
  if (by == by_spine) sort.queue().launch_tiles(sort.kernel("tw_spine"), 1, group, totals, chunks, bits);
  sort.move(sort.kernel("tw_scatter"), count, group, pass, rows, totals, chunks, std::uint32_t{by}, shift, bits);
}

void run(const problem& p, const registry::bindings& where, const tuning& t, backend::queue& queue) {
  const auto [digit_bits, group_size, spine] = t.of(axes);
  if (p.n() == 0) return;
  const opencl_tiles tiles = tiles_for(p, queue.device().info(), group_size, local_bytes);
  opencl_sort sort(p, where, queue, embedded::sort_radix_cl, tiles.definitions());
  const std::uint64_t count = tiles.tiles(p.n());
  if (count == 1) {
    sort.plan(1, true);
    return sort.move(sort.kernel("tw_sort_tiles"), 1, tiles.group_size, 0);
  }
  const auto key_bits = static_cast<unsigned>(8 * size_of(p.type));
  sort.plan(ceil_div(key_bits, digit_bits), false);
  const backend::buffer rows(queue, count * max_digits * sizeof(std::uint32_t));
  const backend::buffer totals(queue, (count / chunk_rows + 2) * max_digits * sizeof(std::uint64_t));
  for (unsigned pass = 0; pass < sort.passes(); ++pass)
    run_pass(sort, tiles, pass, rows, totals, pass * digit_bits, std::min(digit_bits, key_bits - pass * digit_bits),
             spine == 1);
}

std::string unsupported(const problem& p, const backend::device& on, const tuning& t) {
  const auto [digit_bits, group_size, spine] = t.of(axes);
  return tiles_unsupported(p, on.info(), group_size, local_bytes);
}

}  // namespace

registry::variant opencl_radix_variant() {
  return {.algorithm = "sort",
          .backend = "opencl",
          .name = "radix",
          .types = all_dtypes,
          .source = "Satish, Harris and Garland 2009, Designing efficient sorting algorithms for manycore GPUs",
          .tuning = axes,
          .unsupported = unsupported,
          .run = run};
}

}  // namespace tilewise::impl::sort
