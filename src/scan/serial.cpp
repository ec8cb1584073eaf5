// SPDX-License-Identifier: Apache-2.0
// What:   scan by its definition; never optimised.
// Order:  src/order: after each push, the fold of the block stack is the prefix.
// Shape:  one loop on the calling thread.
// Limits: none; works in place.
// Twins:  every other file of the folder.
#include "backend/cpu/device.hpp"
#include "order/block_stack.hpp"
#include "registry/variant.hpp"
#include "scan/problem.hpp"

namespace tilewise::impl::scan {

namespace {

template <class T, class Op>
void scan_values(const T* in, T* out, const T* carry, const registry::problem& p) {
  const T init = init_of<T>(p), before = carry == nullptr ? Op::template identity<T>() : carry[0];
  const auto result = [&](T prefix) {
    return order::canonical(starts_from_init(p) ? Op::template apply<T>(init, prefix) : prefix);
  };
  order::block_stack<T, Op> blocks;
  for (std::uint64_t i = 0; i < p.n(); ++i) {
    const T value = in[i];
    if (is_exclusive(p)) out[i] = result(blocks.fold_onto(before));
    blocks.push(value);
    const bool is_after = carry != nullptr && i + 1 == p.n();
    if (!is_exclusive(p)) out[i] = result(is_after ? carry[1] : blocks.fold_onto(before));
  }
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue&) {
  with_type(p.type, [&]<class T>(T) {
    order::with_operator(operation_of(p), [&]<class Op>(Op) {
      scan_values<T, Op>(where.in[0].as<const T>(), where.out[0].as<T>(), carry_of<T>(p, where), p);
    });
  });
}

}  // namespace

std::vector<registry::variant> scan_serial_variants() {
  return {{.algorithm = "scan",
           .backend = "serial",
           .name = "",
           .types = all_dtypes,
           .source = "src/order/README.md",
           .run = run}};
}

}  // namespace tilewise::impl::scan
