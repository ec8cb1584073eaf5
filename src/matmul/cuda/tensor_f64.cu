// SPDX-License-Identifier: Apache-2.0
// What:   matmul/cuda:tensor_f64: the fp64 tensor cores, by tensor.cuh.
// Order:  one chain per element: a product of these tensor cores is an ascending chain of fused multiply-adds. The
//         vendor does not promise that, but two generations do it: none of some million elements differed from the
//         chain, with exponents over the whole range, subnormal products, infinities and NaNs among them.
// Shape:  six sizes of tile, three of which are also shared out among the groups that run at once; chosen by the size
//         of C. Products of 8 k's take half the instructions of those of 4; those of 16, chains too, are slower here.
// Limits: f64; compute capability 8.0 or 9.0, whose bits are known.
// Twins:  serial.cpp.
#include "matmul/cuda/tensor.cuh"
#include "registry/variant.hpp"

namespace tilewise::impl::matmul {

namespace {

using half_shape = tensor_shape<double, 96, 32, 64, 16, 32, 32, 3, 3>;
using medium_shape = tensor_shape<double, 99, 64, 64, 32, 32, 16, 3, 3>;
using huge_shape = tensor_shape<double, 115, 128, 128, 64, 32, 16, 4, 1>;
using shapes = tile_shapes<86, tensor_shape<double, 47, 16, 32, 16, 8, 32, 3, 4>,
                           tensor_shape<double, 58, 32, 32, 16, 16, 32, 3, 4>, half_shape, medium_shape,
                           tensor_shape<double, 109, 128, 64, 64, 32, 16, 3, 2>, huge_shape, shared<half_shape, 2, 77>,
                           shared<medium_shape, 2, 90>, shared<huge_shape, 1, 102>>;

/// `half` is one of `medium`.
constexpr std::array<unsigned, 10> values{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
constexpr std::array<std::string_view, 10> words{"by_size", "tiny", "small",       "half",          "medium",
                                                 "large",   "huge", "half_shared", "medium_shared", "huge_shared"};
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
