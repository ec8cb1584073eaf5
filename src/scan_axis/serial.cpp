// SPDX-License-Identifier: Apache-2.0
// What:   scan_axis by its definition; never optimised.
// Order:  src/order, for each row or column by itself: after each push, the fold of the block stack is the prefix.
// Shape:  one loop on the calling thread.
// Limits: none; works in place.
// Twins:  every other file of the folder.
#include "backend/cpu/device.hpp"
#include "order/block_stack.hpp"
#include "registry/variant.hpp"
#include "scan_axis/problem.hpp"

namespace tilewise::impl::scan_axis {

namespace {

template <class T, class Op>
void scan_line(const T* in, std::uint64_t in_step, T* out, std::uint64_t out_step, const registry::problem& p) {
  const T init = left_of_results<T, Op>(p);
  order::block_stack<T, Op> blocks;
  for (std::uint64_t i = 0; i < lines_of_input(p).length; ++i) {
    const T value = in[i * in_step], before = blocks.fold();
    blocks.push(value);
    out[i * out_step] = order::canonical(Op::template apply<T>(init, is_exclusive(p) ? before : blocks.fold()));
  }
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue&) {
  const registry::lines from = lines_of_input(p), to = lines_of_output(p);
  with_type(p.type, [&]<class T>(T) {
    order::with_operator(operation_of(p), [&]<class Op>(Op) {
      for (std::uint64_t l = 0; l < from.count; ++l)
        scan_line<T, Op>(where.in[0].as<const T>() + l * from.line, from.element, where.out[0].as<T>() + l * to.line,
                         to.element, p);
    });
  });
}

}  // namespace

std::vector<registry::variant> scan_axis_serial_variants() {
  return {{.algorithm = "scan_axis",
           .backend = "serial",
           .name = "",
           .types = all_dtypes,
           .source = "src/order/README.md, for each row or column",
           .run = run}};
}

}  // namespace tilewise::impl::scan_axis
