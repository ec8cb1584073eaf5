// SPDX-License-Identifier: Apache-2.0
// What:   skeleton, tile by tile, on every executor.
// Order:  none: elements are independent.
// Shape:  for_each_tile over tile_size elements.
// Limits: none; works in place.
// Twins:  every other file of the folder.
#include "_skeleton/problem.hpp"
#include "backend/cpu/device.hpp"
#include "base/ceil_div.hpp"
#include "registry/variant.hpp"

#include <algorithm>

namespace tilewise::impl::skeleton {

namespace {

constexpr std::array<unsigned, 3> tile_sizes{1024, 4096, 65536};
constexpr std::array<registry::tuning_axis, 1> axes{{{"tile_size", tile_sizes, 4096}}};

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning& t, backend::queue& q) {
  const auto [tile_size] = t.of(axes);
  with_type(p.type, [&]<class T>(T) {
    const T* in = where.in[0].as<const T>();
    T* out = where.out[0].as<T>();
    static_cast<backend::cpu::queue&>(q).for_each_tile(ceil_div(p.n(), tile_size), [&](std::uint64_t tile, unsigned) {
      const std::uint64_t end = std::min(p.n(), (tile + 1) * tile_size);
      for (std::uint64_t i = tile * tile_size; i < end; ++i) out[i] = negated(in[i]);
    });
  });
}

}  // namespace

std::vector<registry::variant> skeleton_cpu_variants() {
  return {{.algorithm = "skeleton",
           .backend = "cpu",
           .name = "",
           .types = all_dtypes,
           .source = "the definition, tile by tile",
           .tuning = axes,
           .run = run}};
}

}  // namespace tilewise::impl::skeleton
