// Short arrays on the calling thread, without device, problem or workspace.
#pragma once

#include <tilewise/types.hpp>

namespace tilewise::impl::reduce {

/// Up to here a call goes straight to the kernel.
inline constexpr std::uint64_t small_limit = 4096;
/// Room for the levels over small_limit elements, at two lanes a vector: 1/2 + 1/4 + ..., and a few vectors.
inline constexpr std::uint64_t small_scratch = small_limit + 64;

/// 0 < n <= small_limit; `init` may be null. The same bits as every variant.
template <class T>
T reduce_small(const T* in, std::uint64_t n, const T* init, op operation);

}  // namespace tilewise::impl::reduce
