// SPDX-License-Identifier: Apache-2.0
// What:   the matrix product in three plain loops over rows of C, products and rows of B; no blocks.
// Order:  a row of C takes the products in ascending order of K.
// Shape:  a tile is a row of C, which is read and written once for four rows of B.
// Limits: none.
// Twins:  serial.cpp; the loops are in cpu_blocked_kernels.cpp.
#include "backend/cpu/device.hpp"
#include "matmul/documents/cpu_blocked_kernels.hpp"
#include "matmul/problem.hpp"
#include "order/operators.hpp"
#include "registry/variant.hpp"

namespace tilewise::impl::matmul {

namespace {

void run_simple(const registry::problem& p, const registry::bindings& where, const registry::tuning&,
                backend::queue& q) {
  auto& queue = static_cast<backend::cpu::queue&>(q);
  const sizes s(p);
  order::with_wrapping_type(p.type, [&]<class T>(T) {
    const blocked_kernels<T>& kernels = blocked_kernels_for<T>(queue.level());
    queue.for_each_tile(s.m, [&](std::uint64_t row, unsigned) {
      T* const c = where.out[0].as<T>() + row * s.ldc;
      std::fill_n(c, s.n, T(0));
      kernels.multiply({.a = where.in[0].as<const T>() + row * s.lda,
                        .a_stride = s.lda,
                        .b = where.in[1].as<const T>(),
                        .b_stride = s.ldb,
                        .c = c,
                        .c_stride = s.ldc,
                        .rows = 1,
                        .columns = s.n,
                        .depth = s.k});
      kernels.finish(c, s.n);
    });
  });
}

}  // namespace

registry::variant cpu_simple_variant() {
  return {.algorithm = "matmul",
          .backend = "cpu",
          .name = "simple",
          .types = all_dtypes,
          .source = "Golub and Van Loan, Matrix Computations, 4th edition, 1.1: the order of loops i, k, j",
          .run = run_simple};
}

}  // namespace tilewise::impl::matmul
