// SPDX-License-Identifier: Apache-2.0
// What:   matmul/cuda:tf32: the TF32 tensor cores, on Hopper by warpgroups_sm90a.cu, and by
//         tensor.cuh elsewhere and for what that cannot multiply or would have to copy for too little.
// Order:  own: A and B are rounded to 10 bits of fraction, and the hardware adds eight products at a time.
// Shape:  the tiles of both, chosen by the size of C.
// Limits: f32; compute capability 8.0.
// Twins:  none.
#include "matmul/cuda/row_copies.cuh"
#include "matmul/cuda/tensor.cuh"
#include "matmul/cuda/warpgroups.hpp"
#include "registry/variant.hpp"

#include <algorithm>

namespace tilewise::impl::matmul {

namespace {

using shapes =
    tile_shapes<78, tensor_shape<float, 12, 32, 32, 16, 16, 32, 3, 4>,
                tensor_shape<float, 24, 64, 64, 32, 32, 32, 3, 3>, tensor_shape<float, 40, 128, 128, 64, 64, 32, 3, 2>,
                tensor_shape<float, 43, 128, 256, 64, 64, 32, 3, 1>>;

/// The tiles of single warps, then those of warpgroups. The choice by size takes single warps only if warpgroups cannot
/// multiply: at each of 17 sizes on an H200 warpgroups are faster, from 1.1 times for squares of 128 to 3.6 times for
/// squares of 4096.
constexpr unsigned by_size = 0, of_warps = 4;
constexpr std::array<unsigned, 11> values{by_size, 1, 2, 3, of_warps, 5, 6, 7, 8, 9, 10};
constexpr std::array<std::string_view, 11> words = [] {
  std::array<std::string_view, 11> all{"by_size", "tiny", "small", "medium", "large"};
  std::copy(warpgroup_tiles.begin(), warpgroup_tiles.end(), all.begin() + of_warps + 1);
  return all;
}();
constexpr std::array<registry::tuning_axis, 1> axes{{{"tile", values, by_size, words}}};

/// The number that its own kind has for a tile.
constexpr unsigned warps(unsigned tile) { return tile <= of_warps ? tile : by_size; }
constexpr unsigned warpgroups(unsigned tile) { return tile > of_warps ? tile - of_warps : by_size; }

/// Whether warpgroups are faster than single warps although operands must be copied. On an H200 they are faster by a
/// quarter for squares of 383, 63x63x511 and 1023x1023x65, but not for squares of 301, 63x63x257, 511x511x129 and
/// 4095x1x4095.
bool is_worth_copies(const sizes& s) {
  if (std::min({s.m, s.n, s.k}) <= 32) return false;
  return s.k > 320 || static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k) > 0x1p26;
}

/// Returns whether it has computed the product. It does not if bulk copies cannot read an operand, and copying the
/// operand is not worth it or there is no room.
bool multiply_by_warpgroups(const registry::problem& p, const registry::bindings& where, unsigned tile,
                            backend::cuda::queue& q) {
  const bool is_named = tile > of_warps;
  if (!is_named && tile != by_size) return false;
  if (!warpgroups_unsupported(p, warpgroups(tile), q.device()).empty()) return false;
  const packable_operands<float> o(p, where, q, is_named || is_worth_copies(sizes(p)));
  if (o.are_packable()) run_warpgroups(o.problem(), o.where(), warpgroups(tile), q);
  return o.are_packable();
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning& t, backend::queue& on) {
  const auto [tile] = t.of(axes);
  if (p.shape[0] == 0 || p.shape[1] == 0) return;
  backend::cuda::queue& q = backend::cuda::enter(on);
  if (!multiply_by_warpgroups(p, where, tile, q)) run_tensor_tiles<shapes>(p, where, warps(tile), q);
}

std::string unsupported(const registry::problem& p, const backend::device& on, const registry::tuning& t) {
  const auto [tile] = t.of(axes);
  if (tile > of_warps)
    if (std::string why = warpgroups_unsupported(p, warpgroups(tile), on); !why.empty()) return why;
  return shapes::too_many(p, warps(tile), on);
}

constexpr std::array types{dtype::f32};

/// One product has a relative error of up to 2^-10. The error of a sum of K products grows with sqrt(K), and so does
/// the largest sum: on uniform data the error is 2.9e-4 of the largest element at K = 256 and 2.5e-4 at K = 8192. The
/// bound leaves room for long sums whose terms cancel: relative to the largest element, their error is larger.
constexpr double rounding_bound = 2e-2;

}  // namespace

registry::variant cuda_tf32_variant() {
  return {.algorithm = "matmul",
          .backend = "cuda",
          .name = "tf32",
          .order = registry::claim::own,
          .types = types,
          .source = "NVIDIA, A100 Tensor Core GPU Architecture, 2020; H100 Tensor Core GPU Architecture, 2022",
          .tuning = axes,
          .unsupported = unsupported,
          .run = run,
          .bound = rounding_bound};
}

}  // namespace tilewise::impl::matmul
