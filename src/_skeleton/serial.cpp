// SPDX-License-Identifier: Apache-2.0
// What:   skeleton by its definition; never optimised.
// Order:  none: elements are independent.
// Shape:  one loop on the calling thread.
// Limits: none; works in place.
// Twins:  every other file of the folder.
#include "_skeleton/problem.hpp"
#include "registry/variant.hpp"

namespace tilewise::impl::skeleton {

namespace {

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue&) {
  with_type(p.type, [&]<class T>(T) {
    const T* in = where.in[0].as<const T>();
    T* out = where.out[0].as<T>();
    for (std::uint64_t i = 0; i < p.n(); ++i) out[i] = negated(in[i]);
  });
}

}  // namespace

std::vector<registry::variant> skeleton_serial_variants() {
  return {{.algorithm = "skeleton",
           .backend = "serial",
           .name = "",
           .types = all_dtypes,
           .source = "the definition",
           .run = run}};
}

}  // namespace tilewise::impl::skeleton
