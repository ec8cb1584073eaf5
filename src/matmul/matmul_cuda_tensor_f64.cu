// SPDX-License-Identifier: Apache-2.0
// What:   matmul/cuda:tensor_f64: the fp64 tensor cores, by matmul_cuda_tensor.cuh.
// Order:  one chain per element: a product of these tensor cores is an ascending chain of fused multiply-adds. The
//         vendor does not promise that, but two generations do it: none of some million elements differed from the
//         chain, with exponents over the whole range, subnormal products, infinities and NaNs among them.
// Shape:  five sizes of tile, one of which is also shared out among the groups that run at once; chosen by the size
//         of C. Products of 8 k's take half the instructions of those of 4, which are as fast in the smallest.
// Limits: f64; compute capability 8.0 or 9.0, whose bits are known.
// Twins:  matmul_serial.cpp.
#include "matmul/matmul_cuda.hpp"
#include "matmul/matmul_cuda_tensor.cuh"

namespace tilewise::impl::matmul {

namespace {

using medium_shape = tensor_shape<double, 20, 64, 64, 32, 32, 16, 3, 3, 8>;
using shapes = tile_shapes<78, tensor_shape<double, 9, 16, 32, 16, 8, 16, 4, 4, 4>,
                           tensor_shape<double, 12, 32, 32, 16, 16, 16, 4, 4, 8>,
                           tensor_shape<double, 16, 64, 32, 32, 16, 16, 3, 3, 8>, medium_shape,
                           tensor_shape<double, 21, 128, 64, 64, 32, 16, 3, 2, 8>, shared<medium_shape, 2, 19>>;

/// `half` is one of `medium`.
constexpr std::array<unsigned, 7> values{0, 1, 2, 3, 4, 5, 6};
constexpr std::array<std::string_view, 7> words{"by_size", "tiny", "small", "half", "medium", "large", "medium_shared"};
constexpr std::array<registry::tuning_axis, 1> axes{{{"tile", values, 0, words}}};

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning& t, backend::queue& on) {
  const auto [tile] = t.of(axes);
  if (p.shape[0] == 0 || p.shape[1] == 0) return;
  run_tensor_tiles<shapes>(p, where, tile, backend::cuda::enter(on));
}

std::string unsupported(const registry::problem& p, const backend::device& on, const registry::tuning& t) {
  const auto [tile] = t.of(axes);
  const unsigned capability = on.info().compute_capability;
  if (capability != 80 && capability != 90) return "it needs the fp64 tensor cores of compute capability 8.0 or 9.0";
  return shapes::too_many(p, tile, on);
}

constexpr std::array types{dtype::f64};

}  // namespace

registry::variant cuda_tensor_f64_variant() {
  return {
      .algorithm = "matmul",
      .backend = "cuda",
      .name = "tensor_f64",
      .types = types,
      .source =
          "fp64 tensor cores: NVIDIA, A100 Tensor Core GPU Architecture, 2020; as a chain: MMA-Sim, arXiv 2511.10909",
      .tuning = axes,
      .unsupported = unsupported,
      .run = run};
}

}  // namespace tilewise::impl::matmul
