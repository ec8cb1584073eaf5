// SPDX-License-Identifier: Apache-2.0
// The variants of scan on OpenCL that have their own files, and what several of them tell their kernels.
#pragma once

#include "registry/variant.hpp"
#include "scan/problem.hpp"

namespace tilewise::impl::scan {

/// The same numbers as in program.cl.
enum mode_bits : std::uint32_t { inclusive = 1, started = 2, spine = 4, top = 8, part = 16, last = 32, whole = 64 };

inline std::uint32_t mode_of(const registry::problem& p) {
  return (is_exclusive(p) ? 0u : inclusive) | (starts_from_init(p) ? started : 0u) | (has_carry(p) ? part : 0u);
}

inline base::scalar_value init_value(const registry::problem& p) {
  return with_type(p.type, [&]<class T>(T) { return base::scalar_value::of(init_of<T>(p)); });
}

registry::variant opencl_lookback_variant();
registry::variant opencl_sweep_add_variant();

}  // namespace tilewise::impl::scan
