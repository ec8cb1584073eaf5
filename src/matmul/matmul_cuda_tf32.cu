// SPDX-License-Identifier: Apache-2.0
// What:   matmul/cuda:tf32: the TF32 tensor cores, by matmul_cuda_tensor.cuh.
// Order:  own: A and B are rounded to 10 bits of fraction, and the hardware adds eight products at a time.
// Shape:  four sizes of tile, chosen by the size of C.
// Limits: f32; compute capability 8.0.
// Twins:  none.
#include "matmul/matmul_cuda.hpp"
#include "matmul/matmul_cuda_tensor.cuh"

namespace tilewise::impl::matmul {

namespace {

using shapes =
    tile_shapes<2, tensor_shape<float, 32, 32, 16, 16, 32, 3, 4, 8>, tensor_shape<float, 64, 64, 32, 32, 32, 3, 3, 8>,
                tensor_shape<float, 128, 128, 64, 64, 32, 3, 2, 8>, tensor_shape<float, 128, 256, 64, 64, 32, 3, 1, 8>>;

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning& t, backend::queue& on) {
  const auto [tile] = t.of(tile_axes);
  if (p.shape[0] == 0 || p.shape[1] == 0) return;
  run_tensor_tiles<shapes>(p, where, tile, backend::cuda::enter(on));
}

std::string unsupported(const registry::problem& p, const backend::device& on, const registry::tuning& t) {
  const auto [tile] = t.of(tile_axes);
  return shapes::too_many(p, tile, on);
}

constexpr std::array types{dtype::f32};

/// A product is off by up to 2^-10 of itself, and K of them by about sqrt(K) times that, as the largest sum grows too:
/// on uniform data 2.9e-4 of the largest element at K = 256 and 2.5e-4 at K = 8192. The bound is for the smallest
/// matrices: where C is one element whose terms cancel, 4.6e-3 of it was seen.
constexpr double rounding_bound = 2e-2;

}  // namespace

registry::variant cuda_tf32_variant() {
  return {.algorithm = "matmul",
          .backend = "cuda",
          .name = "tf32",
          .order = registry::claim::own,
          .types = types,
          .source = "NVIDIA, A100 Tensor Core GPU Architecture, 2020",
          .tuning = tile_axes,
          .unsupported = unsupported,
          .run = run,
          .bound = rounding_bound};
}

}  // namespace tilewise::impl::matmul
