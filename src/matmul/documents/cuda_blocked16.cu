// SPDX-License-Identifier: Apache-2.0
// What:   matmul/cuda:blocked16: groups load 16 x 16 tiles of A and B into shared memory, one thread per element of C.
// Order:  each thread's own chain.
// Shape:  groups of 16 x 16; two barriers per tile.
// Limits: none.
// Twins:  serial.cpp, opencl_blocked16.cl.
#include "matmul/cuda/shared.cuh"
#include "registry/variant.hpp"

namespace tilewise::impl::matmul {

namespace {

constexpr unsigned side = 16;

template <class T>
__global__ void blocked16(const operands<T> o) {
  __shared__ T a_tile[side][side], b_tile[side][side];
  const tile_place tile = place_of(o, side, side);
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const std::uint64_t i = tile.row + y, j = tile.column + x;
  T chain = 0;
  for (std::uint64_t k = 0; k < o.k; k += side) {
    a_tile[y][x] = i < o.m && k + x < o.k ? o.a[i * o.lda + k + x] : absent_a<T>();
    b_tile[y][x] = j < o.n && k + y < o.k ? o.b[(k + y) * o.ldb + j] : T(0);
    __syncthreads();  // the tiles are loaded
#pragma unroll
    for (unsigned step = 0; step < side; ++step) chain = multiply_add(a_tile[y][step], b_tile[step][x], chain);
    __syncthreads();  // and done with
  }
  if (i < o.m && j < o.n) o.c[i * o.ldc + j] = order::canonical(chain);
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& on) {
  if (p.shape[0] == 0 || p.shape[1] == 0) return;
  auto& q = backend::cuda::enter(on);
  order::with_wrapping_type(p.type, [&]<class T>(T) {
    const auto groups = static_cast<unsigned>(tiles_of(sizes(p), side, side));
    blocked16<T><<<groups, dim3(side, side), 0, q.stream()>>>(operands<T>(p, where));
    TW_CUDA(cudaGetLastError());
  });
}

std::string unsupported(const registry::problem& p, const backend::device&, const registry::tuning&) {
  return too_many_tiles(p, side, side);
}

}  // namespace

registry::variant cuda_blocked16_variant() {
  return {.algorithm = "matmul",
          .backend = "cuda",
          .name = "blocked16",
          .types = all_dtypes,
          .source = "blocks in shared memory: Kirk and Hwu 2010, Programming Massively Parallel Processors, chapter 5",
          .unsupported = unsupported,
          .run = run};
}

}  // namespace tilewise::impl::matmul
