// SPDX-License-Identifier: Apache-2.0
// What:   convolution by the definition on the CPU, the result cut into tiles.
// Order:  one chain per result, the mask's taps in order.
// Shape:  one thread computes a tile. If all its masks stay within the image, the image is read in place; otherwise a
//         copy with zeros around it is read.
// Limits: none.
// Twins:  serial.cpp; the kernels are in direct_kernels.cpp.
#include "backend/cpu/device.hpp"
#include "base/ceil_div.hpp"
#include "convolve/cpu/direct_kernels.hpp"
#include "convolve/problem.hpp"
#include "registry/variant.hpp"

#include <algorithm>

namespace tilewise::impl::convolve {

namespace {

constexpr std::array<unsigned, 3> heights{8, 32, 128};
constexpr std::array<unsigned, 3> widths{256, 1024, 4096};
constexpr std::array<registry::tuning_axis, 2> axes{{{"rows", heights, 32}, {"columns", widths, 1024}}};

/// Results of rows [row, row_end) and columns [column, column_end).
struct block {
  std::uint64_t row, row_end, column, column_end;

  std::uint64_t rows() const { return row_end - row; }
  std::uint64_t columns() const { return column_end - column; }
};

template <class T>
struct convolution {
  sizes s;
  const T* image;
  const T* mask;
  T* y;
  decltype(direct_kernels<T>::convolve) kernel;

  /// How many pixels of a row this many results need.
  std::uint64_t taken_columns(std::uint64_t results) const { return results + s.mask.columns - 1; }
  std::uint64_t taken_rows(std::uint64_t results) const { return results + s.mask.rows - 1; }

  bool rows_are_there(const block& b) const {
    return b.row >= s.above && b.row - s.above + taken_rows(b.rows()) <= s.image.rows;
  }

  /// `first` is the pixel under the first tap of the block's first result.
  void convolve(const block& b, const T* first, std::uint64_t stride) const {
    kernel({.x = first,
            .x_stride = stride,
            .mask = mask,
            .mask_rows = s.mask.rows,
            .mask_columns = s.mask.columns,
            .y = y + b.row * s.result.columns + b.column,
            .y_stride = s.result.columns,
            .rows = b.rows(),
            .columns = b.columns()});
  }

  void convolve_in_place(const block& b) const {
    convolve(b, image + (b.row - s.above) * s.image.columns + (b.column - s.left), s.image.columns);
  }

  void convolve_copy(const block& b, T* copy) const {
    const std::uint64_t width = taken_columns(b.columns());
    const std::uint64_t before = s.left - std::min(s.left, b.column), first = b.column + before - s.left;
    const std::uint64_t there = std::min(width - before, s.image.columns - first);
    std::fill_n(copy, taken_rows(b.rows()) * width, T(0));
    for (std::uint64_t r = 0; r < taken_rows(b.rows()); ++r)
      if (const std::uint64_t row = b.row + r - s.above; row < s.image.rows)  // if negative, it wraps far beyond
        std::copy_n(image + row * s.image.columns + first, there, copy + r * width + before);
    convolve(b, copy, width);
  }

  void convolve_tile(const block& b, T* copy) const {
    if (!rows_are_there(b)) return convolve_copy(b, copy);
    const std::uint64_t behind = s.mask.columns - 1 - s.left;
    const std::uint64_t inner = std::clamp(s.left, b.column, b.column_end);
    const std::uint64_t inner_end =
        std::clamp(s.image.columns - std::min(behind, s.image.columns), inner, b.column_end);
    if (b.column < inner) convolve_copy({b.row, b.row_end, b.column, inner}, copy);
    if (inner < inner_end) convolve_in_place({b.row, b.row_end, inner, inner_end});
    if (inner_end < b.column_end) convolve_copy({b.row, b.row_end, inner_end, b.column_end}, copy);
  }
};

template <class T>
void run_tiles(const convolution<T>& c, std::uint64_t rows, std::uint64_t columns, backend::cpu::queue& queue) {
  const image_size result = c.s.result;
  rows = std::min(rows, result.rows);
  columns = std::min(columns, result.columns);
  const bool stays_within = c.s.above == 0 && c.s.left == 0;
  const std::uint64_t room = stays_within ? 0 : c.taken_rows(rows) * c.taken_columns(columns);
  const backend::buffer copies(queue, queue.threads() * room * sizeof(T));
  const std::uint64_t across = ceil_div(result.columns, columns);
  queue.for_each_tile(ceil_div(result.rows, rows) * across, [&](std::uint64_t tile, unsigned worker) {
    const std::uint64_t row = tile / across * rows, column = tile % across * columns;
    c.convolve_tile({row, std::min(row + rows, result.rows), column, std::min(column + columns, result.columns)},
                    copies.as<T>() + worker * room);
  });
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning& t, backend::queue& q) {
  const auto [rows, columns] = t.of(axes);
  auto& queue = static_cast<backend::cpu::queue&>(q);
  with_float(p.type, [&]<class T>(T) {
    const convolution<T> c{sizes(p), where.in[0].as<const T>(), where.in[1].as<const T>(), where.out[0].as<T>(),
                           direct_kernels_for<T>(queue.level()).convolve};
    run_tiles(c, rows, columns, queue);
  });
}

}  // namespace

std::vector<registry::variant> convolve_cpu_variants() {
  return {{.algorithm = "convolve",
           .backend = "cpu",
           .name = "direct",
           .types = float_types,
           .source = "the definition, several results in registers: Goto and van de Geijn 2008, on the matrix product",
           .tuning = axes,
           .run = run}};
}

}  // namespace tilewise::impl::convolve
