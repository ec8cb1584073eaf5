// SPDX-License-Identifier: Apache-2.0
// What:   values that the groups of a launch send each other through memory, and tickets (numbers) that they draw.
// Order:  none; only data moves.
// Shape:  each half-word of a value is stored with the number of the launch or round that sent it, in one 8-byte word.
//         The reader sees from the word itself whether it has arrived. So there are no flags or fences, nothing is
//         cleared between numbers, and 8-byte values need no wider atomic access.
// Limits: values of 4 or 8 bytes; a number must never equal one that the memory still holds from an earlier use.
// Twins:  none.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace tilewise::backend::cuda {

/// Called by one thread. Returns the launch's next number in the low half, and the launch's own number in the high
/// half. The last draw of a launch sets the counter for the next launch, so nothing must be cleared.
__device__ inline std::uint64_t draw(std::uint64_t* counter, std::uint64_t draws) {
  const unsigned long long drawn = atomicAdd(reinterpret_cast<unsigned long long*>(counter), 1ull);
  if (static_cast<unsigned>(drawn) == draws - 1)
    atomicExch(reinterpret_cast<unsigned long long*>(counter), ((drawn >> 32) + 1) << 32);
  return drawn;
}

template <class T>
struct alignas(2 * sizeof(T)) packet {
  static constexpr unsigned words = sizeof(T) / 4;
  std::uint64_t word[words];

  __device__ __forceinline__ bool is_of(unsigned number) const {
    bool all = true;
#pragma unroll
    for (unsigned i = 0; i < words; ++i) all = all && static_cast<unsigned>(word[i] >> 32) == number;
    return all;
  }

  __device__ __forceinline__ T value() const {
    if constexpr (words == 2)
      return __builtin_bit_cast(T, (word[0] & 0xffffffffu) | word[1] << 32);
    else
      return __builtin_bit_cast(T, static_cast<unsigned>(word[0]));
  }
};

template <class T>
__device__ __forceinline__ void send(packet<T>* to, T value, unsigned number) {
  const std::uint64_t tag = std::uint64_t{number} << 32;
  if constexpr (packet<T>::words == 2) {
    auto bits = __builtin_bit_cast(std::uint64_t, value);
    asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(tag | (bits & 0xffffffffu)),
                 "l"(tag | bits >> 32)
                 : "memory");
  } else {
    auto bits = __builtin_bit_cast(unsigned, value);
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(tag | bits) : "memory");
  }
}

/// Receives only if wanted, without a branch, so that all reads of a thread are in flight at once.
template <class T>
__device__ __forceinline__ void receive_if(bool is_wanted, packet<T>& p, const packet<T>* from) {
  if constexpr (packet<T>::words == 2)
    asm volatile("{.reg .pred p; setp.ne.u32 p, %3, 0; @p ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];}"
                 : "+l"(p.word[0]), "+l"(p.word[1])
                 : "l"(from), "r"(static_cast<unsigned>(is_wanted))
                 : "memory");
  else
    asm volatile("{.reg .pred p; setp.ne.u32 p, %2, 0; @p ld.relaxed.gpu.global.u64 %0, [%1];}"
                 : "+l"(p.word[0])
                 : "l"(from), "r"(static_cast<unsigned>(is_wanted))
                 : "memory");
}

template <class T>
__device__ __forceinline__ packet<T> receive(const packet<T>* from) {
  packet<T> p;
  if constexpr (packet<T>::words == 2)
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(p.word[0]), "=l"(p.word[1])
                 : "l"(from)
                 : "memory");
  else
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(p.word[0]) : "l"(from) : "memory");
  return p;
}

}  // namespace tilewise::backend::cuda
