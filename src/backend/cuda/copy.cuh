// SPDX-License-Identifier: Apache-2.0
// Copies from global to shared memory that need no registers and do not wait: cp.async, from compute capability 8.0 on.
#pragma once

namespace tilewise::backend::cuda {

/// Copies 16 aligned bytes past the first-level cache, or 4 or 8 bytes through it.
template <unsigned Bytes>
__device__ void copy_async(void* to, const void* from) {
  const auto shared = static_cast<unsigned>(__cvta_generic_to_shared(to));
  if constexpr (Bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(from) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared), "l"(from), "n"(Bytes) : "memory");
}

/// The same if `wanted`. It uses the instruction's own predicate, so there is no branch.
template <unsigned Bytes>
__device__ void copy_async_if(bool wanted, void* to, const void* from) {
  const auto shared = static_cast<unsigned>(__cvta_generic_to_shared(to));
  if constexpr (Bytes == 16)
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.u32 p, %2, 0;\n@p cp.async.cg.shared.global [%0], [%1], 16;\n}" ::"r"(shared),
        "l"(from), "r"(unsigned{wanted})
        : "memory");
  else
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.u32 p, %2, 0;\n@p cp.async.ca.shared.global [%0], [%1], %3;\n}" ::"r"(shared),
        "l"(from), "r"(unsigned{wanted}), "n"(Bytes)
        : "memory");
}

/// Ends a set of copies, for wait_for_copies.
__device__ inline void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/// Waits until at most `Pending` of this thread's latest sets are in flight.
template <unsigned Pending>
__device__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}

}  // namespace tilewise::backend::cuda
