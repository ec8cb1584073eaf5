// Short arrays on the calling thread, without device, problem or workspace.
#pragma once

#include "reduce/reduce_cpu.hpp"

namespace tilewise::impl::scan {

using reduce::small_limit;

/// 0 < n <= small_limit; `init` is the left operand of every output, null for none. The same bits as every variant.
template <class T>
void scan_small(const T* in, T* out, std::uint64_t n, const T* init, bool inclusive, op operation);

}  // namespace tilewise::impl::scan
