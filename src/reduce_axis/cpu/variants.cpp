// SPDX-License-Identifier: Apache-2.0
// What:   reduce_axis on the CPU: rows by the kernels of reduce, columns in strips.
// Order:  a tile of a line is an aligned block; the tiles' values are the elements of the next level of the same tree.
// Shape:  long lines: tiles, then for each line its tiles' values and the rest of it. Rows in memory order, columns by
//         strips.
// Limits: none.
// Twins:  serial.cpp; the kernels are in kernels.cpp and reduce/cpu/kernels.cpp.
#include "backend/cpu/device.hpp"
#include "base/ceil_div.hpp"
#include "order/operators.hpp"
#include "reduce/cpu/kernels.hpp"
#include "reduce_axis/cpu/kernels.hpp"
#include "reduce_axis/problem.hpp"
#include "registry/variant.hpp"

#include <algorithm>
#include <bit>

namespace tilewise::impl::reduce_axis {

namespace {

using backend::buffer;

constexpr std::array<unsigned, 4> tile_lengths{2048, 8192, 32768, 131072};
constexpr std::array<registry::tuning_axis, 1> axes{{{"tile", tile_lengths, 32768}}};
constexpr std::uint64_t tiles_per_thread = 8;  // at least, so that the last ones end at about the same time

template <class T, class Op>
struct reduction {
  const T* a;
  T* out;
  registry::lines of;
  std::uint64_t tile;
  std::optional<T> first;
  backend::cpu::queue& queue;
  const reduce::cpu_kernels<T>& along = reduce::kernels_for<T>(queue.level(), Op::id);
  const cpu_kernels<T>& across = kernels_for<T>(queue.level(), Op::id);

  /// Turns prefixes P(n) into results, in place.
  void finish(T* values, std::uint64_t count) const {
    if (first)
      for (std::uint64_t i = 0; i < count; ++i) values[i] = order::canonical(Op::template apply<T>(*first, values[i]));
    else
      for (std::uint64_t i = 0; i < count; ++i) values[i] = order::canonical(values[i]);
  }
};

/// Reduces rows: long ones one by one, short ones several at once.
template <class T, class Op>
void reduce_short_rows(const reduction<T, Op>& r) {
  const std::uint64_t rows = std::max<std::uint64_t>(1, r.tile / r.of.length);
  r.queue.for_each_tile(ceil_div(r.of.count, rows), [&](std::uint64_t i, unsigned) {
    const std::uint64_t begin = i * rows, end = std::min(r.of.count, begin + rows);
    std::uint64_t row = begin;
    if (r.of.length < r.across.short_row) {
      row += r.across.rows(r.a + begin * r.of.line, r.of.line, end - begin, r.of.length, r.out + begin);
      r.finish(r.out + begin, row - begin);
    }
    for (; row < end; ++row)
      r.out[row] = r.along.small(r.a + row * r.of.line, r.of.length, r.first ? &*r.first : nullptr);
  });
}

template <class T, class Op>
void reduce_long_rows(const reduction<T, Op>& r) {
  constexpr T identity = Op::template identity<T>();
  const std::uint64_t whole = r.of.length / r.tile, rest = r.of.length % r.tile;
  const std::uint64_t slot = r.along.scratch_elements(std::max(r.tile, whole));
  const buffer scratch(r.queue, r.queue.threads() * slot * sizeof(T));
  const buffer values(r.queue, r.of.count * whole * sizeof(T));
  const auto value = [&](const T* x, std::uint64_t n, unsigned worker, T before) {
    T* const levels = scratch.as<T>() + worker * slot;
    r.along.upsweep(x, n, levels);
    return r.along.fold(x, n, levels, before);
  };
  r.queue.for_each_tile(r.of.count * whole, [&](std::uint64_t i, unsigned worker) {
    values.as<T>()[i] = value(r.a + i / whole * r.of.line + i % whole * r.tile, r.tile, worker, identity);
  });
  r.queue.for_each_tile(r.of.count, [&](std::uint64_t row, unsigned worker) {
    const T carry = value(values.as<T>() + row * whole, whole, worker, identity);
    r.out[row] = value(r.a + row * r.of.line + whole * r.tile, rest, worker, carry);
    r.finish(r.out + row, 1);
  });
}

template <class T, class Op>
void reduce_columns(const reduction<T, Op>& r) {
  const std::uint64_t columns = r.of.count, width = std::min(strip<T>, columns), strips = ceil_div(columns, width);
  const bool enough_strips = strips >= r.queue.threads() * tiles_per_thread;
  const std::uint64_t rows = std::bit_floor(std::max<std::uint64_t>(8, r.tile / width));
  const std::uint64_t tiles = enough_strips ? 0 : r.of.length / rows;
  const buffer values(r.queue, tiles * columns * sizeof(T));
  const auto onto = [&](const T* a, std::uint64_t stride, std::uint64_t count, std::uint64_t column, T* out) {
    r.across.columns(a + column, stride, count, std::min(width, columns - column), out + column);
  };
  std::fill_n(values.as<T>(), tiles * columns, Op::template identity<T>());
  r.queue.for_each_tile(tiles * strips, [&](std::uint64_t i, unsigned) {
    const std::uint64_t tile = i / strips;
    onto(r.a + tile * rows * r.of.element, r.of.element, rows, i % strips * width, values.as<T>() + tile * columns);
  });
  r.queue.for_each_tile(strips, [&](std::uint64_t i, unsigned) {
    const std::uint64_t column = i * width, count = std::min(width, columns - column);
    std::fill_n(r.out + column, count, Op::template identity<T>());
    onto(values.as<T>(), columns, tiles, column, r.out);
    onto(r.a + tiles * rows * r.of.element, r.of.element, r.of.length - tiles * rows, column, r.out);
    r.finish(r.out + column, count);
  });
}

template <class T, class Op>
void reduce_lines(const reduction<T, Op>& r, axis along) {
  if (r.of.count == 0) return;
  if (r.of.length == 0)
    std::fill_n(r.out, r.of.count, order::canonical(*r.first));
  else if (along == axis::columns)
    reduce_columns(r);
  else if (r.of.length <= reduce::small_limit)
    reduce_short_rows(r);
  else
    reduce_long_rows(r);
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning& t, backend::queue& q) {
  const auto [tile] = t.of(axes);
  auto& queue = static_cast<backend::cpu::queue&>(q);
  with_type(p.type, [&]<class T>(T) {
    order::with_operator(operation_of(p), [&]<class Op>(Op) {
      reduce_lines(
          reduction<T, Op>{where.in[0].as<const T>(), where.out[0].as<T>(), lines_of(p), tile, first_of<T>(p), queue},
          axis_of(p));
    });
  });
}

}  // namespace

std::vector<registry::variant> reduce_axis_cpu_variants() {
  return {{.algorithm = "reduce_axis",
           .backend = "cpu",
           .name = "",
           .types = all_dtypes,
           .source = "src/order/README.md; pairwise summation: N. J. Higham, SIAM J. Sci. Comput. 14 (1993)",
           .tuning = axes,
           .run = run}};
}

}  // namespace tilewise::impl::reduce_axis
