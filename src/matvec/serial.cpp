// SPDX-License-Identifier: Apache-2.0
// What:   the matrix-vector product by its definition; never optimised.
// Order:  src/order over the rounded products of a row and x; 0 for an empty row.
// Shape:  one block stack per row on the calling thread.
// Limits: none.
// Twins:  every other file of the folder.
#include "backend/cpu/device.hpp"
#include "matvec/problem.hpp"
#include "order/block_stack.hpp"
#include "registry/variant.hpp"

namespace tilewise::impl::matvec {

namespace {

template <class T>
T dot(const T* row, const T* x, std::uint64_t n) {
  if (n == 0) return T(0);
  order::block_stack<T, order::sum> blocks;
  for (std::uint64_t j = 0; j < n; ++j) blocks.push(order::product::apply(row[j], x[j]));
  return order::canonical(blocks.fold());
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue&) {
  const sizes s(p);
  with_type(p.type, [&]<class T>(T) {
    for (std::uint64_t i = 0; i < s.m; ++i)
      where.out[0].as<T>()[i] = dot(where.in[0].as<const T>() + i * s.lda, where.in[1].as<const T>(), s.n);
  });
}

}  // namespace

std::vector<registry::variant> matvec_serial_variants() {
  return {{.algorithm = "matvec",
           .backend = "serial",
           .name = "",
           .types = all_dtypes,
           .source = "src/order/README.md over the rounded products",
           .run = run}};
}

}  // namespace tilewise::impl::matvec
