// SPDX-License-Identifier: Apache-2.0
// What:   matmul/cuda:register_tiles: tiles of C in the threads' registers, by matmul_cuda_register_tiles.cuh.
// Order:  one chain per element.
// Shape:  five sizes of tile, three of which are also shared out among the groups that run at once; chosen by the size
//         of C.
// Limits: compute capability 8.0; elements of 4 bytes are shared out.
// Twins:  matmul_serial.cpp, matmul_register_tiles.cl.
#include "matmul/matmul_cuda_register_tiles.cuh"

#include "matmul/matmul_cuda.hpp"

namespace tilewise::impl::matmul {

namespace {

/// `half` is one of `medium`.
constexpr std::array<unsigned, 9> values{0, 1, 2, 3, 4, 5, 6, 7, 8};
constexpr std::array<std::string_view, 9> words{"by_size", "tiny",        "small",         "half",        "medium",
                                                "large",   "half_shared", "medium_shared", "large_shared"};
constexpr std::array<registry::tuning_axis, 1> axes{{{"tile", values, 0, words}}};

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning& t, backend::queue& on) {
  const auto [tile] = t.of(axes);
  if (p.shape[0] == 0 || p.shape[1] == 0) return;
  order::with_wrapping_type(p.type,
                            [&]<class T>(T) { run_register_tiles<T>(p, where, tile, backend::cuda::enter(on)); });
}

std::string unsupported(const registry::problem& p, const backend::device& on, const registry::tuning& t) {
  const auto [tile] = t.of(axes);
  std::string reason;
  order::with_wrapping_type(p.type, [&]<class T>(T) {
    reason = tile > register_shapes<T>::count ? "tiles are shared out for elements of 4 bytes"
                                              : register_shapes<T>::too_many(p, tile, on);
  });
  return reason;
}

}  // namespace

registry::variant cuda_register_tiles_variant() {
  return {.algorithm = "matmul",
          .backend = "cuda",
          .name = "register_tiles",
          .types = all_dtypes,
          .source = "Volkov, Demmel, Benchmarking GPUs to Tune Dense Linear Algebra, SC 2008",
          .tuning = axes,
          .unsupported = unsupported,
          .run = run};
}

}  // namespace tilewise::impl::matmul
