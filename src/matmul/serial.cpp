// SPDX-License-Identifier: Apache-2.0
// What:   the matrix product by its definition; never optimised.
// Order:  one chain per element: c = 0, then c = fma(a[i,k], b[k,j], c) for k ascending.
// Shape:  three loops on the calling thread, one row of C at a time.
// Limits: none.
// Twins:  every other file of the folder.
#include "backend/cpu/device.hpp"
#include "matmul/problem.hpp"
#include "order/operators.hpp"
#include "registry/variant.hpp"

#include <algorithm>
#include <cmath>

namespace tilewise::impl::matmul {

namespace {

template <class T>
T multiply_add(T a, T b, T c) {
  if constexpr (std::is_floating_point_v<T>)
    return std::fma(a, b, c);
  else
    return order::sum::apply(order::product::apply(a, b), c);
}

/// Takes B row by row, which does not change the chain of any element.
template <class T>
void multiply(const T* a, const T* b, T* c, const sizes& s) {
  for (std::uint64_t i = 0; i < s.m; ++i) {
    T* const row = c + i * s.ldc;
    std::fill(row, row + s.n, T(0));
    for (std::uint64_t k = 0; k < s.k; ++k)
      for (std::uint64_t j = 0; j < s.n; ++j) row[j] = multiply_add(a[i * s.lda + k], b[k * s.ldb + j], row[j]);
    for (std::uint64_t j = 0; j < s.n; ++j) row[j] = order::canonical(row[j]);
  }
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue&) {
  with_type(p.type, [&]<class T>(T) {
    multiply(where.in[0].as<const T>(), where.in[1].as<const T>(), where.out[0].as<T>(), sizes(p));
  });
}

}  // namespace

std::vector<registry::variant> matmul_serial_variants() {
  return {{.algorithm = "matmul",
           .backend = "serial",
           .name = "",
           .types = all_dtypes,
           .source = "the definition: Golub and Van Loan, Matrix Computations, 4th edition, 1.1",
           .run = run}};
}

}  // namespace tilewise::impl::matmul
