// SPDX-License-Identifier: Apache-2.0
// What:   matmul/cuda:simple: one thread per element of C, everything from global memory.
// Order:  each thread's own chain.
// Shape:  groups of 32 columns by 8 rows.
// Limits: none.
// Twins:  serial.cpp, opencl_simple.cl.
#include "matmul/cuda/shared.cuh"
#include "registry/variant.hpp"

namespace tilewise::impl::matmul {

namespace {

constexpr unsigned rows = 8, columns = 32;  // a warp reads one row of B at a time

template <class T>
__global__ void simple(const operands<T> o) {
  const tile_place tile = place_of(o, rows, columns);
  const std::uint64_t i = tile.row + threadIdx.y, j = tile.column + threadIdx.x;
  if (i >= o.m || j >= o.n) return;
  const T* const row = o.a + i * o.lda;
  const T* const column = o.b + j;
  T chain = 0;
  for (std::uint64_t k = 0; k < o.k; ++k) chain = multiply_add(row[k], column[k * o.ldb], chain);
  o.c[i * o.ldc + j] = order::canonical(chain);
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& on) {
  if (p.shape[0] == 0 || p.shape[1] == 0) return;
  auto& q = backend::cuda::enter(on);
  order::with_wrapping_type(p.type, [&]<class T>(T) {
    const auto groups = static_cast<unsigned>(tiles_of(sizes(p), rows, columns));
    simple<T><<<groups, dim3(columns, rows), 0, q.stream()>>>(operands<T>(p, where));
    TW_CUDA(cudaGetLastError());
  });
}

std::string unsupported(const registry::problem& p, const backend::device&, const registry::tuning&) {
  return too_many_tiles(p, rows, columns);
}

}  // namespace

registry::variant cuda_simple_variant() {
  return {.algorithm = "matmul",
          .backend = "cuda",
          .name = "simple",
          .types = all_dtypes,
          .source = "the definition, one thread per element: Golub and Van Loan, Matrix Computations, 4th edition, 1.1",
          .unsupported = unsupported,
          .run = run};
}

}  // namespace tilewise::impl::matmul
