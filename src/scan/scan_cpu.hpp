// Short arrays on the calling thread, without device, problem or workspace.
#pragma once

#include "reduce/reduce_cpu.hpp"
#include "registry/problem.hpp"

namespace tilewise::impl::scan {

using reduce::small_limit;

/// 0 < p.n() <= small_limit. The same bits as every variant.
template <class T>
void scan_small(const registry::problem& p, const T* in, T* out);

}  // namespace tilewise::impl::scan
