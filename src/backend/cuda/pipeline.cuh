// SPDX-License-Identifier: Apache-2.0
// What:   the hardware's barrier in shared memory, and the bulk copies that complete on it.
// Order:  none; only data moves.
// Shape:  one lane arrives for its warp; a wait returns to all lanes that call it.
// Limits: compute capability 9.0. On older devices every function traps, so variants that use them must refuse such
//         devices.
// Twins:  none.
#pragma once

#include "backend/cuda/code.hpp"

#include <tilewise/device.hpp>

#include <cstdint>

namespace tilewise::backend::cuda {

/// Whether the device has this hardware, and the build has code for it.
inline bool has_pipeline_on(const device_info& device) {
  return newest_code({__CUDA_ARCH_LIST__}, device.compute_capability) >= 90;
}

/// Whether the code being compiled is for a device that has this hardware, not for an older one or the host. Otherwise
/// a kernel that needs it should be empty, to save compiling its instances.
#if __CUDA_ARCH__ >= 900
inline constexpr bool has_pipeline = true;
#else
inline constexpr bool has_pipeline = false;
#endif

__device__ inline unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

/// A barrier that counts arrivals and bytes. It is used in phases, whose parity is 0, 1, 0, ...
class barrier {
 public:
  /// Call this from one lane, before a barrier of the whole group.
  __device__ void open(unsigned arrivals) {
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&word_)), "r"(arrivals));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#else
    __trap();
#endif
  }

  __device__ void arrive() {
#if __CUDA_ARCH__ >= 900
    asm volatile("{ .reg .b64 state; mbarrier.arrive.shared::cta.b64 state, [%0]; }" ::"r"(shared_address(&word_))
                 : "memory");
#endif
  }

  /// Arrives, and makes the phase also wait for `bytes` of bulk copies.
  __device__ void arrive_expecting(unsigned bytes) {
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "{ .reg .b64 state; mbarrier.arrive.expect_tx.shared::cta.b64 state, [%0], %1; }" ::"r"(shared_address(&word_)),
        "r"(bytes)
        : "memory");
#endif
  }

  /// Arrives, and makes the phase also wait for the bulk copy of `bytes` from `from` to `to`. Both addresses and
  /// `bytes` are multiples of 16.
  __device__ void arrive_with_copy(void* to, const void* from, unsigned bytes) {
    arrive_expecting(bytes);
#if __CUDA_ARCH__ >= 900
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(to)),
                 "l"(from), "r"(bytes), "r"(shared_address(&word_))
                 : "memory");
#endif
  }

  /// Copies the box of a matrix that begins at this column and row. arrive_expecting must have counted its bytes. The
  /// map is a kernel's `__grid_constant__` argument (tensor_map.hpp).
  __device__ void copy_box(void* to, const void* map, unsigned column, unsigned row) {
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
        "[%4];" ::"r"(shared_address(to)),
        "l"(map), "r"(column), "r"(row), "r"(shared_address(&word_))
        : "memory");
#endif
  }

  /// Waits until the phase of this parity is complete. Writes before its arrivals are then visible.
  __device__ void wait(unsigned parity) {
#if __CUDA_ARCH__ >= 900
    unsigned done = 0;
    while (done == 0)
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                   : "=r"(done)
                   : "r"(shared_address(&word_)), "r"(parity)
                   : "memory");
#endif
  }

 private:
  std::uint64_t word_;
};

}  // namespace tilewise::backend::cuda
