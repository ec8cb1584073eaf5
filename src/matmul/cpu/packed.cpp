// SPDX-License-Identifier: Apache-2.0
// What:   the matrix product for large matrices: packed panels and a tile of C in registers.
// Order:  the blocks of K are taken in ascending order, and each continues the chains from the stored C.
// Shape:  each block of C and of K is one round of tiles. The first tiles pack A and B for all workers; the others, of
//         equal size, wait for them and compute C. If one operand is small, it is read in place, and each tile is a
//         panel of the other operand, which its worker packs. Products below `alone` multiply-adds stay on the calling
//         thread, and small products are not packed.
// Limits: workspace for `depth` columns of A and rows of B.
// Twins:  serial.cpp, documents/cpu_blocked.cpp; the kernels are in packed_kernels.cpp.
#include "backend/cpu/device.hpp"
#include "backend/cpu/wait.hpp"
#include "base/ceil_div.hpp"
#include "matmul/cpu/packed_kernels.hpp"
#include "matmul/problem.hpp"
#include "order/operators.hpp"
#include "registry/variant.hpp"

#include <atomic>

namespace tilewise::impl::matmul {

namespace {

// Sizes in kilobytes: of a panel of B, which stays in the first-level cache, and of the panels of A that a tile of C
// uses, which stay in the second-level cache.
constexpr std::array<unsigned, 4> panel_sizes{4, 16, 32, 48};
constexpr std::array<unsigned, 5> block_sizes{32, 128, 256, 384, 512};
constexpr std::array<registry::tuning_axis, 2> axes{{{"panel", panel_sizes, 48}, {"block", block_sizes, 256}}};

/// Rows and columns of C that share packed panels: at most 24 MB in f64.
constexpr std::uint64_t block_side = 4096;
/// Columns of a tile of C: its panels of B are read once from the last-level cache.
constexpr std::uint64_t tile_columns = 512;
/// Multiply-adds below which a second thread costs more than it gains.
constexpr std::uint64_t alone = 1 << 20;
/// Operands of up to this many rows and columns are multiplied in place.
constexpr std::uint64_t small_side = 64;
/// How many panels one tile packs.
constexpr std::uint64_t panels_a_tile = 8;
/// At least so many tiles of C per thread, so that the last ones end at about the same time.
constexpr std::uint64_t tiles_per_thread = 8;
/// Rows of B up to this size stay unpacked in each worker's second-level cache: products of 128 to 256 a side take 0.76
/// to 0.86 of the time on two Zen 4 cores. The same holds for A if vectors are short and a panel of B leaves half of
/// the first-level cache to rows of A.
constexpr std::uint64_t near_bytes = 512 * 1024, near_panel_bytes = 16 * 1024;
/// Reading an operand in place needs this many panels per thread, so that the last ones end at about the same time.
constexpr std::uint64_t panels_per_thread = 4;

template <class T>
class product {
 public:
  product(const registry::bindings& where, const sizes& s, std::size_t panel_size, std::size_t block_size,
          backend::cpu::queue& queue)
      : a_(where.in[0].as<const T>()),
        b_(where.in[1].as<const T>()),
        c_(where.out[0].as<T>()),
        s_(s),
        kernels_(packed_kernels_for<T>(queue.level())),
        queue_(queue),
        depth_(std::min(s.k, panel_size * 1024 / (kernels_.panel_columns * sizeof(T)))),
        height_(std::max<std::uint64_t>(block_size * 1024 / (depth_ * sizeof(T)), kernels_.panel_rows)),
        panels_of_a_(queue, panels_a(std::min(s.m, block_side)) * kernels_.panel_rows * depth_ * sizeof(T)),
        panels_of_b_(queue, panels_b(std::min(s.n, block_side)) * kernels_.panel_columns * depth_ * sizeof(T)) {}

  void run() {
    const std::uint64_t steps = ceil_div(s_.k, depth_);
    for (std::uint64_t i = 0; i < s_.m; i += block_side)
      for (std::uint64_t j = 0; j < s_.n; j += block_side)
        for (std::uint64_t step = 0; step < steps; ++step) {
          multiply({i, std::min(block_side, s_.m - i), j, std::min(block_side, s_.n - j), part(s_.k, steps, step)});
        }
  }

 private:
  struct block {
    std::uint64_t i, rows, j, columns;
    part k;
  };

  std::uint64_t panels_a(std::uint64_t rows) const { return ceil_div(rows, kernels_.panel_rows); }
  std::uint64_t panels_b(std::uint64_t columns) const { return ceil_div(columns, kernels_.panel_columns); }

  /// Packing is part of the same round: each round costs the time until the last worker has woken.
  void multiply(const block& now) {
    const std::uint64_t of_a = panels_a(now.rows), of_b = panels_b(now.columns);
    if (now.rows * now.columns * now.k.size() < alone) {
      pack(now, {of_a + of_b, 1, 0});
      multiply_tile(now, {of_a, 1, 0}, {of_b, 1, 0});
      return;
    }
    if (kernels_.takes_a_in_place && of_b >= panels_per_thread * queue_.threads() &&
        kernels_.panel_columns * now.k.size() * sizeof(T) <= near_panel_bytes &&
        now.rows * now.k.size() * sizeof(T) <= near_bytes)
      return multiply_columns(now, of_b);
    if (of_a >= panels_per_thread * queue_.threads() && now.columns * now.k.size() * sizeof(T) <= near_bytes)
      return multiply_near(now, of_a);
    const std::uint64_t threads = queue_.threads(), packs = ceil_div(of_a + of_b, panels_a_tile);
    const std::uint64_t down = std::min(of_a, ceil_div(ceil_div(now.rows, height_), threads) * threads);
    const std::uint64_t across =
        std::max(ceil_div(now.columns, tile_columns), std::min(of_b, ceil_div(threads * tiles_per_thread, down)));
    std::atomic<std::uint64_t> packed{0};
    queue_.for_each_tile(packs + down * across, [&](std::uint64_t tile, unsigned) {
      if (tile < packs) {
        pack(now, {of_a + of_b, packs, tile});
        packed.fetch_add(1, std::memory_order_release);
      } else {
        backend::cpu::spin_until([&] { return packed.load(std::memory_order_acquire) == packs; });
        multiply_tile(now, {of_a, down, (tile - packs) / across}, {of_b, across, (tile - packs) % across});
      }
    });
  }
  /// B is read in place. Each worker packs the panel of A that it alone reads, so no cache line moves between cores.
  void multiply_near(const block& now, std::uint64_t of_a) {
    const std::uint64_t height = kernels_.panel_rows, size = height * now.k.size();
    queue_.for_each_tile(of_a, [&](std::uint64_t panel, unsigned worker) {
      T* const packed = panels_of_a_.as<T>() + worker * size;
      const std::uint64_t i = panel * height, rows = std::min(height, now.rows - i);
      kernels_.pack_a(a_ + (now.i + i) * s_.lda + now.k.begin, s_.lda, rows, now.k.size(), packed);
      kernels_.multiply({.a = packed,
                         .a_row = 1,
                         .a_column = height,
                         .a_panel = size,
                         .b = b_ + now.k.begin * s_.ldb + now.j,
                         .b_row = s_.ldb,
                         .b_panel = kernels_.panel_columns,
                         .c = c_ + (now.i + i) * s_.ldc + now.j,
                         .c_row = s_.ldc,
                         .rows = rows,
                         .columns = now.columns,
                         .depth = now.k.size(),
                         .first = now.k.begin == 0,
                         .last = now.k.end == s_.k});
    });
  }
  /// A is read in place. Each worker packs the panel of B that it alone reads, which stays in its first-level cache. If
  /// B were not packed, rows a multiple of 1024 bytes apart would evict each other from that cache.
  void multiply_columns(const block& now, std::uint64_t of_b) {
    const std::uint64_t width = kernels_.panel_columns, size = width * now.k.size();
    queue_.for_each_tile(of_b, [&](std::uint64_t panel, unsigned worker) {
      T* const packed = panels_of_b_.as<T>() + worker * size;
      const std::uint64_t j = panel * width, columns = std::min(width, now.columns - j);
      kernels_.pack_b(b_ + now.k.begin * s_.ldb + now.j + j, s_.ldb, columns, now.k.size(), packed);
      kernels_.multiply({.a = a_ + now.i * s_.lda + now.k.begin,
                         .a_row = s_.lda,
                         .a_column = 1,
                         .a_panel = kernels_.panel_rows * s_.lda,
                         .b = packed,
                         .b_row = width,
                         .b_panel = size,
                         .c = c_ + now.i * s_.ldc + now.j + j,
                         .c_row = s_.ldc,
                         .rows = now.rows,
                         .columns = columns,
                         .depth = now.k.size(),
                         .first = now.k.begin == 0,
                         .last = now.k.end == s_.k});
    });
  }
  void pack(const block& now, const part& panels) {
    const std::uint64_t of_a = panels_a(now.rows);
    for (std::uint64_t panel = panels.begin; panel < panels.end; ++panel)
      if (panel < of_a)
        pack_a(now, panel);
      else
        pack_b(now, panel - of_a);
  }
  void pack_a(const block& now, std::uint64_t panel) {
    const std::uint64_t height = kernels_.panel_rows, i = panel * height;
    kernels_.pack_a(a_ + (now.i + i) * s_.lda + now.k.begin, s_.lda, std::min(height, now.rows - i), now.k.size(),
                    panels_of_a_.as<T>() + i * now.k.size());
  }
  void pack_b(const block& now, std::uint64_t panel) {
    const std::uint64_t width = kernels_.panel_columns, j = panel * width;
    kernels_.pack_b(b_ + now.k.begin * s_.ldb + now.j + j, s_.ldb, std::min(width, now.columns - j), now.k.size(),
                    panels_of_b_.as<T>() + j * now.k.size());
  }
  void multiply_tile(const block& now, const part& rows, const part& columns) {
    const std::uint64_t height = kernels_.panel_rows, width = kernels_.panel_columns, depth = now.k.size();
    const std::uint64_t i = rows.begin * height, j = columns.begin * width;
    kernels_.multiply({.a = panels_of_a_.as<T>() + i * depth,
                       .a_row = 1,
                       .a_column = height,
                       .a_panel = height * depth,
                       .b = panels_of_b_.as<T>() + j * depth,
                       .b_row = width,
                       .b_panel = width * depth,
                       .c = c_ + (now.i + i) * s_.ldc + now.j + j,
                       .c_row = s_.ldc,
                       .rows = std::min(now.rows, rows.end * height) - i,
                       .columns = std::min(now.columns, columns.end * width) - j,
                       .depth = depth,
                       .first = now.k.begin == 0,
                       .last = now.k.end == s_.k});
  }

  const T* const a_;
  const T* const b_;
  T* const c_;
  const sizes s_;
  const packed_kernels<T>& kernels_;
  backend::cpu::queue& queue_;
  const std::uint64_t depth_, height_;
  const backend::buffer panels_of_a_, panels_of_b_;
};

/// Multiplies on the calling thread, with A and B in place: they are in the nearest cache, or soon will be.
template <class T>
void multiply_in_place(const registry::bindings& where, const sizes& s, const packed_kernels<T>& kernels) {
  kernels.multiply({.a = where.in[0].as<const T>(),
                    .a_row = s.lda,
                    .a_column = 1,
                    .a_panel = kernels.panel_rows * s.lda,
                    .b = where.in[1].as<const T>(),
                    .b_row = s.ldb,
                    .b_panel = kernels.panel_columns,
                    .c = where.out[0].as<T>(),
                    .c_row = s.ldc,
                    .rows = s.m,
                    .columns = s.n,
                    .depth = s.k,
                    .first = true,
                    .last = true});
}

/// Writes C if K is 0.
template <class T>
void fill_with_zeros(T* c, const sizes& s) {
  for (std::uint64_t i = 0; i < s.m; ++i) std::fill_n(c + i * s.ldc, s.n, T(0));
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning& t, backend::queue& q) {
  const auto [panel, block] = t.of(axes);
  const sizes s(p);
  if (s.m == 0 || s.n == 0) return;
  auto& queue = static_cast<backend::cpu::queue&>(q);
  order::with_wrapping_type(p.type, [&]<class T>(T) {
    if (s.k == 0)
      fill_with_zeros(where.out[0].as<T>(), s);
    else if (s.m <= small_side && s.n <= small_side && s.k <= small_side)
      multiply_in_place(where, s, packed_kernels_for<T>(queue.level()));
    else
      product<T>(where, s, panel, block, queue).run();
  });
}

}  // namespace

registry::variant cpu_packed_variant() {
  return {.algorithm = "matmul",
          .backend = "cpu",
          .name = "packed",
          .types = all_dtypes,
          .source =
              "K. Goto and R. van de Geijn, Anatomy of High-Performance Matrix Multiplication (2008); micro-kernel: "
              "F. G. Van Zee and R. van de Geijn, BLIS (2015)",
          .tuning = axes,
          .run = run};
}

}  // namespace tilewise::impl::matmul
