// SPDX-License-Identifier: Apache-2.0
// What:   polymul/cuda:global: one thread per coefficient of the product, everything from global memory.
// Order:  each thread's own chain.
// Shape:  consecutive groups over the product.
// Limits: none.
// Twins:  serial.cpp, opencl_global.cl.
#include "polymul/cuda/shared.cuh"
#include "registry/variant.hpp"

namespace tilewise::impl::polymul {

namespace {

constexpr unsigned group_size = 256;

template <class Arithmetic>
__global__ void multiply(const operands<typename Arithmetic::T> o, const Arithmetic by) {
  const std::uint64_t at = std::uint64_t{blockIdx.x} * group_size + threadIdx.x, k = o.first + at;
  if (at >= o.length) return;
  typename Arithmetic::chain chain{};
  const std::uint64_t end = end_of(k, o.n);
  for (std::uint64_t i = begin_of(k, o.m); i < end; ++i)
    by.add_product(chain, by.factor_of(o.a[i]), by.factor_of(o.b[k - i]));
  by.store(o.c + at, chain, 1);
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& on) {
  if (sizes(p).count == 0) return;
  auto& q = backend::cuda::enter(on);
  with_arithmetic(p, [&]<class Arithmetic>(Arithmetic by) {
    const operands<typename Arithmetic::T> o(p, where);
    multiply<<<groups_for(o.length, group_size), group_size, 0, q.stream()>>>(o, by);
    TW_CUDA(cudaGetLastError());
  });
}

std::string unsupported(const registry::problem& p, const backend::device&, const registry::tuning&) {
  return backend::cuda::too_many_groups(ceil_div(sizes(p).count, group_size));
}

}  // namespace

registry::variant cuda_global_variant() {
  return {.algorithm = "polymul",
          .backend = "cuda",
          .name = "global",
          .types = coefficient_types,
          .source = "the definition, one thread per coefficient",
          .unsupported = unsupported,
          .run = run};
}

}  // namespace tilewise::impl::polymul
