// SPDX-License-Identifier: Apache-2.0
// What:   reduce by its definition; never optimised.
// Order:  src/order: push every element on the block stack, fold.
// Shape:  one loop on the calling thread.
// Limits: none; the caller has checked that the empty reduction has a value.
// Twins:  every other file of the folder.
#include "backend/cpu/device.hpp"
#include "order/block_stack.hpp"
#include "reduce/problem.hpp"
#include "registry/variant.hpp"

namespace tilewise::impl::reduce {

namespace {

template <class T, class Op>
T reduce_values(const T* values, std::uint64_t n, const registry::problem& p) {
  order::block_stack<T, Op> blocks;
  for (std::uint64_t i = 0; i < n; ++i) blocks.push(values[i]);
  return result_of<T, Op>(p, blocks.fold());
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue&) {
  with_type(p.type, [&]<class T>(T) {
    order::with_operator(operation_of(p), [&]<class Op>(Op) {
      *where.out[0].as<T>() = order::canonical(reduce_values<T, Op>(where.in[0].as<const T>(), p.n(), p));
    });
  });
}

}  // namespace

std::vector<registry::variant> reduce_serial_variants() {
  return {{.algorithm = "reduce",
           .backend = "serial",
           .name = "",
           .types = all_dtypes,
           .source = "src/order/README.md",
           .run = run}};
}

}  // namespace tilewise::impl::reduce
