// SPDX-License-Identifier: Apache-2.0
// What:   chains of multiply-adds in registers, the peak that arithmetic is compared with.
// Order:  each lane is one chain c = fma(c, a, b), the operation of a matrix product; or c = c * a + b, rounded twice.
// Shape:  enough vectors that the others cover the latency of one; no memory.
// Limits: each step of a chain depends on the one before, so no compiler can shorten it.
// Twins:  opencl/fma.cl, cuda/roofs.cu.
#include "backend/cpu/kernels.hpp"

#include "backend/cpu/vector.hpp"

namespace tilewise::backend::cpu::TILEWISE_LEVEL {

namespace {

/// A fused multiply-add takes 4 cycles and two start per cycle, so at least 8 vectors are needed. a, b and the chains
/// must fit in 32 registers with AVX-512 and in 16 without; integer products need a few more registers.
template <class T>
constexpr unsigned vectors = vector_bytes == 64            ? 24
                             : std::is_floating_point_v<T> ? 12
                                                           : 8;

template <class T, bool Fused = true>
double run_chains(std::uint64_t steps, void* operands) {
  T* const values = static_cast<T*>(operands);
  const vector<T> a = broadcast(values[0]), b = broadcast(values[1]);
  vector<T> chain[vectors<T>];
#pragma GCC unroll 24
  for (unsigned v = 0; v < vectors<T>; ++v) chain[v] = broadcast(static_cast<T>(v));
  for (std::uint64_t step = 0; step < steps; ++step)
#pragma GCC unroll 24
    for (unsigned v = 0; v < vectors<T>; ++v) chain[v] = Fused ? multiply_add<T>(chain[v], a, b) : chain[v] * a + b;
  vector<T> sum = chain[0];
#pragma GCC unroll 24
  for (unsigned v = 1; v < vectors<T>; ++v) sum += chain[v];
  values[0] = sum[0];
  return 2.0 * static_cast<double>(steps) * vectors<T> * lanes<T>;
}

}  // namespace

extern const chain_kernels chains{
    .fused = {run_chains<float>, run_chains<double>, run_chains<std::uint32_t>, run_chains<std::uint64_t>,
              run_chains<std::uint32_t>, run_chains<std::uint64_t>},
    .apart = {run_chains<float, false>, run_chains<double, false>, run_chains<std::uint32_t>, run_chains<std::uint64_t>,
              run_chains<std::uint32_t>, run_chains<std::uint64_t>}};

}  // namespace tilewise::backend::cpu::TILEWISE_LEVEL
