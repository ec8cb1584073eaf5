// SPDX-License-Identifier: Apache-2.0
// Kernel arguments that several variants of scan on OpenCL share.
#pragma once

#include "registry/variant.hpp"
#include "scan/problem.hpp"

namespace tilewise::impl::scan {

/// The same numbers as in program.cl.
enum mode_bits : std::uint32_t { inclusive = 1, started = 2, spine = 4, top = 8, has_ends = 16, last = 32, whole = 64 };

inline std::uint32_t mode_of(const registry::problem& p) {
  return (is_exclusive(p) ? 0u : inclusive) | (starts_from_init(p) ? started : 0u) | (has_carry(p) ? has_ends : 0u);
}

inline base::scalar_value init_value(const registry::problem& p) {
  return with_type(p.type, [&]<class T>(T) { return base::scalar_value::of(init_of<T>(p)); });
}

}  // namespace tilewise::impl::scan
