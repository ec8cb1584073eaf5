// SPDX-License-Identifier: Apache-2.0
// What:   convolve/cuda:boxes: which problems go to the kernels of boxes.cuh.
// Order:  one chain per result.
// Shape:  as many groups as run at once; 4 rows of 16 bytes of results per thread and tile.
// Limits: f32; compute capability 9.0; square masks of 5, 7 and 9 rows; images whose rows are multiples of 16 bytes.
//         One that does not begin at such a multiple itself goes to blocks.cu.
// Twins:  serial.cpp.
#include "convolve/cuda/boxes.cuh"

#include "registry/variant.hpp"

namespace tilewise::impl::convolve {

namespace {

using registry::problem;

template <unsigned Mask, unsigned Before, class T>
void launch(const operands<T>& o, backend::cuda::queue& q) {
  using tile = box_tile<Mask, Before, T>;
  const auto groups = std::min<std::uint64_t>(
      tile::tiles(o), std::uint64_t{q.device().info().compute_units} * box_groups_on_unit<Mask, T>);
  boxes<Mask, Before, T><<<static_cast<unsigned>(groups), dim3(group_columns, group_rows), 0, q.stream()>>>(
      o, backend::cuda::box_map(o.x, o.image.rows, o.image.columns, tile::height, tile::pitch));
  TW_CUDA(cudaGetLastError());
}

void run(const problem& p, const registry::bindings& where, const registry::tuning& t, backend::queue& on) {
  auto& q = backend::cuda::enter(on);
  const operands<float> o(p, where);
  if (!backend::cuda::is_packable(o.x)) return run_blocks(p, where, t, on);
  with_unrolled(o.mask, [&]<unsigned Mask> {
    constexpr unsigned length = pack_length<float>, before = (length - Mask / 2 % length) % length;
    if constexpr (Mask > 3) o.left == 0 ? launch<Mask, 0>(o, q) : launch<Mask, before>(o, q);
  });
}

std::string unsupported(const problem& p, const backend::device& on, const registry::tuning&) {
  constexpr std::uint64_t most = std::uint64_t{1} << 31;
  const sizes s(p);
  if (!backend::cuda::has_pipeline_on(on.info())) return "bulk copies need compute capability 9.0, and code for it";
  if (unrolled_rows(s.mask) < 5) return "its masks are squares of 5, 7 or 9 rows";
  if (s.image.columns * sizeof(float) % 16 != 0) return "bulk copies take rows that are multiples of 16 bytes";
  if (std::max(s.image.rows, s.image.columns) >= most) return "bulk copies take sizes below 2^31";
  if (!backend::cuda::has_tensor_maps()) return "the NVIDIA driver makes no tensor maps";
  return backend::cuda::too_many_groups(block_tile<float>::tiles(s));
}

}  // namespace

registry::variant cuda_boxes_variant() {
  static constexpr std::array<dtype, 1> types{dtype::f32};
  return {.algorithm = "convolve",
          .backend = "cuda",
          .name = "boxes",
          .types = types,
          .source = "the definition, unrolled; tiles by bulk copies",
          .unsupported = unsupported,
          .run = run};
}

}  // namespace tilewise::impl::convolve
