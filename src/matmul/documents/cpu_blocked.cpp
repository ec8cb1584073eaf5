// SPDX-License-Identifier: Apache-2.0
// What:   the matrix product in blocks that stay in the caches, without copies of the operands.
// Order:  a tile of C takes the blocks of K in ascending order and continues the chains from the stored C.
// Shape:  tiles of `rows` x `columns` of C; for each, blocks of `depth` rows of B that all rows of the tile use.
// Limits: none.
// Twins:  serial.cpp, cpu/packed.cpp; the kernels are in cpu_blocked_kernels.cpp.
#include "backend/cpu/device.hpp"
#include "base/ceil_div.hpp"
#include "matmul/documents/cpu_blocked_kernels.hpp"
#include "matmul/problem.hpp"
#include "order/operators.hpp"
#include "registry/variant.hpp"

namespace tilewise::impl::matmul {

namespace {

constexpr std::array<unsigned, 3> heights{16, 64, 128};
constexpr std::array<unsigned, 4> widths{64, 256, 512, 1024};
constexpr std::array<unsigned, 4> depths{16, 64, 128, 256};
constexpr std::array<registry::tuning_axis, 3> axes{
    {{"rows", heights, 64}, {"columns", widths, 1024}, {"depth", depths, 64}}};

template <class T>
void multiply_tile(const registry::bindings& where, const sizes& s, const blocked_kernels<T>& kernels, const part& rows,
                   const part& columns, std::uint64_t depth) {
  T* const c = where.out[0].as<T>() + rows.begin * s.ldc + columns.begin;
  for (std::uint64_t i = 0; i < rows.size(); ++i) std::fill_n(c + i * s.ldc, columns.size(), T(0));
  for (std::uint64_t k = 0; k < s.k; k += depth)
    kernels.multiply({.a = where.in[0].as<const T>() + rows.begin * s.lda + k,
                      .a_stride = s.lda,
                      .b = where.in[1].as<const T>() + k * s.ldb + columns.begin,
                      .b_stride = s.ldb,
                      .c = c,
                      .c_stride = s.ldc,
                      .rows = rows.size(),
                      .columns = columns.size(),
                      .depth = std::min(depth, s.k - k)});
  for (std::uint64_t i = 0; i < rows.size(); ++i) kernels.finish(c + i * s.ldc, columns.size());
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning& t, backend::queue& q) {
  const auto [rows, columns, depth] = t.of(axes);
  auto& queue = static_cast<backend::cpu::queue&>(q);
  const sizes s(p);
  const std::uint64_t down = ceil_div(s.m, rows), across = ceil_div(s.n, columns);
  order::with_wrapping_type(p.type, [&]<class T>(T) {
    const blocked_kernels<T>& kernels = blocked_kernels_for<T>(queue.level());
    queue.for_each_tile(down * across, [&](std::uint64_t tile, unsigned) {
      multiply_tile<T>(where, s, kernels, part(s.m, down, tile / across), part(s.n, across, tile % across), depth);
    });
  });
}

}  // namespace

registry::variant cpu_blocked_variant() {
  return {.algorithm = "matmul",
          .backend = "cpu",
          .name = "blocked",
          .types = all_dtypes,
          .source =
              "M. S. Lam, E. E. Rothberg and M. E. Wolf, The Cache Performance and Optimizations of Blocked "
              "Algorithms (1991)",
          .tuning = axes,
          .run = run};
}

}  // namespace tilewise::impl::matmul
