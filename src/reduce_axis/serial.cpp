// SPDX-License-Identifier: Apache-2.0
// What:   reduce_axis by its definition; never optimised.
// Order:  src/order, for each row or column by itself: push every element on the block stack, fold.
// Shape:  one loop on the calling thread.
// Limits: none; the caller has checked that lines without elements have a value.
// Twins:  every other file of the folder.
#include "backend/cpu/device.hpp"
#include "order/block_stack.hpp"
#include "reduce_axis/problem.hpp"
#include "registry/variant.hpp"

namespace tilewise::impl::reduce_axis {

namespace {

template <class T, class Op>
T value_of_line(const T* line, std::uint64_t step, std::uint64_t length, const std::optional<T>& first) {
  if (length == 0) return *first;
  order::block_stack<T, Op> blocks;
  for (std::uint64_t i = 0; i < length; ++i) blocks.push(line[i * step]);
  return first ? Op::template apply<T>(*first, blocks.fold()) : blocks.fold();
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue&) {
  const registry::lines of = lines_of(p);
  with_type(p.type, [&]<class T>(T) {
    order::with_operator(operation_of(p), [&]<class Op>(Op) {
      for (std::uint64_t l = 0; l < of.count; ++l)
        where.out[0].as<T>()[l] = order::canonical(
            value_of_line<T, Op>(where.in[0].as<const T>() + l * of.line, of.element, of.length, first_of<T>(p)));
    });
  });
}

}  // namespace

std::vector<registry::variant> reduce_axis_serial_variants() {
  return {{.algorithm = "reduce_axis",
           .backend = "serial",
           .name = "",
           .types = all_dtypes,
           .source = "src/order/README.md, for each row or column",
           .run = run}};
}

}  // namespace tilewise::impl::reduce_axis
