// SPDX-License-Identifier: Apache-2.0
// What:   matmul/cuda:register_tiles: tiles of C in the threads' registers, by matmul_cuda_register_tiles.cuh.
// Order:  one chain per element.
// Shape:  five sizes of tile, chosen by the size of C.
// Limits: compute capability 8.0.
// Twins:  matmul_serial.cpp, matmul_register_tiles.cl.
#include "matmul/matmul_cuda_register_tiles.cuh"

#include "matmul/matmul_cuda.hpp"

namespace tilewise::impl::matmul {

namespace {

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning& t, backend::queue& on) {
  const auto [tile] = t.of(tile_axes);
  if (p.shape[0] == 0 || p.shape[1] == 0) return;
  order::with_wrapping_type(p.type,
                            [&]<class T>(T) { run_register_tiles<T>(p, where, tile, backend::cuda::enter(on)); });
}

std::string unsupported(const registry::problem& p, const backend::device& on, const registry::tuning& t) {
  const auto [tile] = t.of(tile_axes);
  std::string reason;
  order::with_wrapping_type(p.type, [&]<class T>(T) { reason = register_shapes<T>::too_many(p, tile, on); });
  return reason;
}

}  // namespace

registry::variant cuda_register_tiles_variant() {
  return {.algorithm = "matmul",
          .backend = "cuda",
          .name = "register_tiles",
          .types = all_dtypes,
          .source = "Volkov, Demmel, Benchmarking GPUs to Tune Dense Linear Algebra, SC 2008",
          .tuning = tile_axes,
          .unsupported = unsupported,
          .run = run};
}

}  // namespace tilewise::impl::matmul
