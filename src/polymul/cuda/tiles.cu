// SPDX-License-Identifier: Apache-2.0
// What:   polymul/cuda:tiles: coefficients in the threads' registers, by tiles.cuh.
// Order:  one chain per coefficient; integers that wrap are exact in any order.
// Shape:  one launch, with one of two tile sizes, chosen by the work. Where tiles alone are too few or too unequal for
//         the device, the chains of integers that wrap are cut into parts, after a launch that clears the product.
// Limits: none.
// Twins:  serial.cpp, opencl/tiles.cl.
#include "polymul/cuda/tiles.cuh"

#include "base/ceil_div.hpp"
#include "registry/variant.hpp"

namespace tilewise::impl::polymul {

namespace {

using registry::problem;

enum tile_value : unsigned { by_size, small, large };
constexpr std::array<unsigned, 3> tile_values{by_size, small, large};
constexpr std::array<std::string_view, 3> tile_words{"by_size", "small", "large"};
constexpr std::array<registry::tuning_axis, 1> tile_axes{{{"tile", tile_values, by_size, tile_words}}};

template <class Factor>
using small_tile = tile_shape<Factor, 4, 64, 256>;
/// As many coefficients per thread as registers hold with their factors.
template <class Factor>
using large_tile = tile_shape<Factor, 64 / sizeof(Factor), 128, 256>;

/// Whether large tiles give every compute unit enough to do.
template <class S>
bool suffices(S, const sizes& s, unsigned products, bool divides, const backend::device& on) {
  constexpr std::uint64_t groups_a_unit = 2;
  const std::uint64_t tiles = ceil_div(s.count, S::tile) * products;
  return (divides ? tiles * ceil_div(s.shorter(), S::step) : tiles) >= groups_a_unit * on.info().compute_units;
}

/// How much of a chain a group makes, and so how many groups a tile has.
struct parting {
  std::uint64_t length;
  unsigned parts;

  /// As short as gives every compute unit this many groups.
  template <class S>
  static parting of(const sizes& s, unsigned products, bool divides, S, const backend::device& on) {
    constexpr std::uint64_t groups_a_unit = 32;             // half of them find nothing to do where n = m
    const std::uint64_t chain = s.shorter() + S::tile - 1;  // the union of the chains of a tile
    const std::uint64_t steps = ceil_div(s.count, S::tile) * ceil_div(chain, S::step) * products;
    const std::uint64_t some = ceil_div(steps, groups_a_unit * on.info().compute_units) * S::step;
    const std::uint64_t length = divides ? some : ceil_div(chain, S::step) * S::step;
    return {length, static_cast<unsigned>(ceil_div(chain, length))};
  }
};

template <class S, class Arithmetic>
void launch(const operands<typename Arithmetic::T>& o, const Arithmetic& by, unsigned products, const parting& cut,
            const backend::cuda::queue& q) {
  if (cut.parts > 1)
    TW_CUDA(cudaMemsetAsync(o.c, 0, ((products - 1) * (o.n + o.m) + o.length) * sizeof(*o.c), q.stream()));
  const dim3 groups(groups_for(o.length, S::tile), cut.parts, products);
  multiply_tiles<S><<<groups, S::threads, 0, q.stream()>>>(o, by, cut.length);
  TW_CUDA(cudaGetLastError());
}

void multiply(const problem& p, const registry::bindings& where, unsigned tile, unsigned products,
              backend::cuda::queue& q) {
  const sizes s(p);
  if (s.count == 0) return;
  with_arithmetic(p, [&]<class Arithmetic>(Arithmetic by) {
    const operands<typename Arithmetic::T> o(p, where);
    const auto with = [&]<class S>(S shape) {
      launch<S>(o, by, products, parting::of(s, products, Arithmetic::divides, shape, q.device()), q);
    };
    using factor = typename Arithmetic::factor;
    if (tile == large ||
        (tile == by_size && suffices(large_tile<factor>{}, s, products, Arithmetic::divides, q.device())))
      with(large_tile<factor>{});
    else
      with(small_tile<factor>{});
  });
}

void run(const problem& p, const registry::bindings& where, const registry::tuning& t, backend::queue& on) {
  const auto [tile] = t.of(tile_axes);
  multiply(p, where, tile, 1, backend::cuda::enter(on));
}

std::string unsupported(const problem& p, const backend::device&, const registry::tuning&) {
  return backend::cuda::too_many_groups(ceil_div(sizes(p).count, small_tile<std::uint64_t>::tile));
}

}  // namespace

void multiply_by_tiles(const problem& p, const registry::bindings& where, unsigned products, backend::cuda::queue& q) {
  multiply(p, where, by_size, products, q);
}

registry::variant cuda_tiles_variant() {
  return {.algorithm = "polymul",
          .backend = "cuda",
          .name = "tiles",
          .types = coefficient_types,
          .source = "several results per thread in registers: Volkov 2010, Better performance at lower occupancy",
          .tuning = tile_axes,
          .unsupported = unsupported,
          .run = run};
}

}  // namespace tilewise::impl::polymul
