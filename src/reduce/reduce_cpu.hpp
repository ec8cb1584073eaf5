// Short arrays on the calling thread, without device, problem or workspace.
#pragma once

#include "reduce/reduce_cpu_kernels.hpp"

namespace tilewise::impl::reduce {

/// 0 < n <= small_limit; `init` may be null. The same bits as every variant.
template <class T>
T reduce_small(const T* in, std::uint64_t n, const T* init, op operation);

}  // namespace tilewise::impl::reduce
