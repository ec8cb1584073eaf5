// SPDX-License-Identifier: Apache-2.0
// What:   polymul/cuda:local: every group copies both whole factors into shared memory; one thread per coefficient.
// Order:  each thread's own chain.
// Shape:  consecutive groups over the product; one barrier.
// Limits: shared memory for all of both factors.
// Twins:  serial.cpp, opencl_local.cl.
#include "backend/cuda/queue.hpp"
#include "polymul/cuda/shared.cuh"
#include "registry/variant.hpp"

namespace tilewise::impl::polymul {

namespace {

constexpr unsigned local_group = 256;

template <class Arithmetic>
__global__ void multiply_local(const operands<typename Arithmetic::T> o, const Arithmetic by) {
  extern __shared__ __align__(8) unsigned char bytes[];
  auto* const a = reinterpret_cast<typename Arithmetic::factor*>(bytes);
  auto* const b = a + o.n;
  for (std::uint64_t i = threadIdx.x; i < o.n; i += local_group) a[i] = by.factor_of(o.a[i]);
  for (std::uint64_t i = threadIdx.x; i < o.m; i += local_group) b[i] = by.factor_of(o.b[i]);
  __syncthreads();  // both factors are loaded
  const std::uint64_t at = std::uint64_t{blockIdx.x} * local_group + threadIdx.x, k = o.first + at;
  if (at >= o.length) return;
  typename Arithmetic::chain chain{};
  const std::uint64_t end = end_of(k, o.n);
  for (std::uint64_t i = begin_of(k, o.m); i < end; ++i) by.add_product(chain, a[i], b[k - i]);
  by.store(o.c + at, chain, 1);
}

std::uint64_t bytes_of_both(const registry::problem& p) {
  const std::uint64_t factor = modulus_of(p) == 0 ? size_of(p.type) : sizeof(std::uint64_t);
  return (sizes(p).n + sizes(p).m) * factor;
}

void run_local(const registry::problem& p, const registry::bindings& where, const registry::tuning&,
               backend::queue& on) {
  if (sizes(p).count == 0) return;
  auto& q = backend::cuda::enter(on);
  const auto bytes = static_cast<unsigned>(bytes_of_both(p));
  with_arithmetic(p, [&]<class Arithmetic>(Arithmetic by) {
    const operands<typename Arithmetic::T> o(p, where);
    backend::cuda::allow_shared_memory(multiply_local<Arithmetic>, q);
    multiply_local<<<groups_for(o.length, local_group), local_group, bytes, q.stream()>>>(o, by);
    TW_CUDA(cudaGetLastError());
  });
}

std::string local_unsupported(const registry::problem& p, const backend::device& on, const registry::tuning&) {
  const std::uint64_t bytes = bytes_of_both(p), room = on.info().local_memory;
  if (bytes > room)
    return "a group needs " + std::to_string(bytes) + " bytes of local memory and " + on.info().name + " has " +
           std::to_string(room);
  return backend::cuda::too_many_groups(ceil_div(sizes(p).count, local_group));
}

}  // namespace

registry::variant cuda_local_variant() {
  return {.algorithm = "polymul",
          .backend = "cuda",
          .name = "local",
          .types = coefficient_types,
          .source = "operands in local memory: Kirk and Hwu 2010, Programming Massively Parallel Processors, chapter 5",
          .unsupported = local_unsupported,
          .run = run_local};
}

}  // namespace tilewise::impl::polymul
