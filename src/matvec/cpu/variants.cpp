// SPDX-License-Identifier: Apache-2.0
// What:   matvec on the CPU: tiles of rows or of pieces of rows, in parallel.
// Order:  a piece of a row is an aligned block of its products; the pieces' values are the elements of the next level
//         of the same tree.
// Shape:  a tile is as many whole rows as fit. Longer rows are cut: a tile is a piece of each of 16 rows, and tiles of
//         the same columns follow one another, so that this part of x stays in the cache. Finish: combines the pieces
//         of each row and its rest.
// Limits: none.
// Twins:  serial.cpp; the kernels are in kernels.cpp.
#include "backend/cpu/device.hpp"
#include "base/ceil_div.hpp"
#include "matvec/cpu/kernels.hpp"
#include "matvec/problem.hpp"
#include "order/operators.hpp"
#include "reduce/cpu/kernels.hpp"
#include "registry/variant.hpp"

#include <algorithm>
#include <bit>

namespace tilewise::impl::matvec {

namespace {

using backend::buffer;

constexpr std::array<unsigned, 4> tile_lengths{4096, 8192, 32768, 131072};
constexpr std::array<registry::tuning_axis, 1> axes{{{"tile", tile_lengths, 131072}}};
constexpr std::uint64_t shortest_tile = 4096;  // below this, starting a tile takes as long as its work
constexpr std::uint64_t tiles_per_thread = 8;  // at least, so that the last ones end at about the same time
constexpr std::uint64_t most_lanes = 16;       // rows that a kernel takes at once

template <class T>
struct operands {
  const T *a, *x;
  T* y;
  sizes size;
};

/// Counts on half of the last-level cache: other programs use the rest.
template <class T>
bool is_cached(const operands<T>& o, const backend::cpu::queue& queue) {
  return !queue.exceeds_cache(2 * o.size.m * o.size.n * sizeof(T));
}

template <class T>
void multiply_rows(const operands<T>& o, std::uint64_t tile, backend::cpu::queue& queue) {
  const cpu_kernels<T>& kernels = kernels_for<T>(queue.level());
  const auto [m, n, stride] = o.size;
  const std::uint64_t rows = ceil_div(tile / n, most_lanes) * most_lanes;
  const std::uint64_t slot = kernels.scratch_elements(n);
  const buffer scratch(queue, queue.threads() * slot * sizeof(T));
  const bool cached = is_cached(o, queue);
  queue.for_each_tile(ceil_div(m, rows), [&](std::uint64_t i, unsigned worker) {
    const std::uint64_t first = i * rows;
    kernels.rows(o.a + first * stride, stride, o.x, o.y + first, std::min(rows, m - first), n,
                 scratch.as<T>() + worker * slot, cached);
  });
}

template <class T>
void multiply_pieces(const operands<T>& o, std::uint64_t tile, backend::cpu::queue& queue) {
  const cpu_kernels<T>& kernels = kernels_for<T>(queue.level());
  const reduce::cpu_kernels<T>& spine = reduce::kernels_for<T>(queue.level(), op::sum);
  const auto [m, n, stride] = o.size;
  const std::uint64_t whole = n / tile, rest = n % tile, groups = ceil_div(m, most_lanes);
  const std::uint64_t slot = whole + kernels.scratch_elements(std::max(tile, whole));
  const buffer scratch(queue, queue.threads() * slot * sizeof(T)), values(queue, whole * m * sizeof(T));
  const bool cached = is_cached(o, queue);

  queue.for_each_tile(groups * whole, [&](std::uint64_t i, unsigned worker) {
    const std::uint64_t row = i % groups * most_lanes, piece = i / groups;
    kernels.rows(o.a + row * stride + piece * tile, stride, o.x + piece * tile, values.as<T>() + piece * m + row,
                 std::min(most_lanes, m - row), tile, scratch.as<T>() + worker * slot, cached);
  });
  queue.for_each_tile(m, [&](std::uint64_t row, unsigned worker) {
    T* const of_row = scratch.as<T>() + worker * slot;
    T* const levels = of_row + whole;
    for (std::uint64_t piece = 0; piece < whole; ++piece) of_row[piece] = values.as<T>()[piece * m + row];
    spine.upsweep(of_row, whole, levels);
    const T carry = spine.fold(of_row, whole, levels, order::sum::identity<T>());
    o.y[row] =
        order::canonical(kernels.prefix(o.a + row * stride + whole * tile, o.x + whole * tile, rest, levels, carry));
  });
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning& t, backend::queue& q) {
  const auto [longest_tile] = t.of(axes);
  auto& queue = static_cast<backend::cpu::queue&>(q);
  with_type(p.type, [&]<class Element>(Element) {
    using T = order::wrapping_t<Element>;
    const operands<T> o{where.in[0].as<const T>(), where.in[1].as<const T>(), where.out[0].as<T>(), sizes(p)};
    const auto [m, n, stride] = o.size;
    if (m == 0 || n == 0) {
      std::fill_n(o.y, m, T(0));
      return;
    }
    const auto tile_for = [longest = std::uint64_t{longest_tile}](std::uint64_t elements) {
      return std::min(longest, std::bit_floor(std::max(elements, shortest_tile)));
    };
    const std::uint64_t share = m * n / (queue.threads() * tiles_per_thread), tile = tile_for(share);
    n <= tile ? multiply_rows(o, tile, queue) : multiply_pieces(o, tile_for(share / std::min(m, most_lanes)), queue);
  });
}

}  // namespace

std::vector<registry::variant> matvec_cpu_variants() {
  return {{.algorithm = "matvec",
           .backend = "cpu",
           .name = "",
           .types = all_dtypes,
           .source = "src/order/README.md; pairwise summation: N. J. Higham, SIAM J. Sci. Comput. 14 (1993)",
           .tuning = axes,
           .run = run}};
}

}  // namespace tilewise::impl::matvec
