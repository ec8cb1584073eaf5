// SPDX-License-Identifier: Apache-2.0
// What:   polynomial product by the definition, the output cut into tiles.
// Order:  one chain per coefficient, i ascending; integers exact where they fit.
// Shape:  a copy of the second factor between zeros, then tiles of neighbouring coefficients, each on one thread.
// Limits: no modulus.
// Twins:  serial.cpp; the kernels are in naive_kernels.cpp.
#include "backend/cpu/device.hpp"
#include "base/ceil_div.hpp"
#include "polymul/cpu/naive_kernels.hpp"
#include "polymul/problem.hpp"
#include "registry/variant.hpp"

namespace tilewise::impl::polymul {

namespace {

constexpr std::array<unsigned, 3> tile_lengths{512, 2048, 8192};
constexpr std::array<registry::tuning_axis, 1> axes{{{"tile", tile_lengths, 2048}}};

/// The type in which the kernels compute: unsigned 64-bit integers for integers.
template <class T>
using lane_t = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning& t, backend::queue& q) {
  const auto [tile] = t.of(axes);
  const sizes s(p);
  auto& queue = static_cast<backend::cpu::queue&>(q);
  with_coefficients(p.type, [&]<class T>(T) {
    using lane = lane_t<T>;
    const backend::buffer a(queue, s.n * sizeof(lane)), b(queue, (s.m + 2 * naive_margin) * sizeof(lane));
    widen(where.in[0].as<const T>(), s.n, a.as<lane>(), s.n);
    std::fill_n(b.as<lane>(), naive_margin, lane(0));
    widen(where.in[1].as<const T>(), s.m, b.as<lane>() + naive_margin, s.m + naive_margin);
    lane* const c = reinterpret_cast<lane*>(where.out[0].as<product_of<T>>());
    const naive_kernels<lane>& kernels = naive_kernels_for<lane>(queue.level());
    const auto multiply = std::is_same_v<T, std::int32_t> ? kernels.multiply_narrow : kernels.multiply;
    queue.for_each_tile(ceil_div(s.count, tile), [&](std::uint64_t i, unsigned) {
      const std::uint64_t first = i * tile;
      multiply(a.as<const lane>(), s.n, b.as<const lane>() + naive_margin, s.m, c + first, s.first + first,
               std::min<std::uint64_t>(tile, s.count - first));
    });
  });
}

std::string unsupported(const registry::problem& p, const backend::device&, const registry::tuning&) {
  return modulus_of(p) == 0 ? "" : "it computes modulo 2^64 only";
}

}  // namespace

registry::variant cpu_naive_variant() {
  return {.algorithm = "polymul",
          .backend = "cpu",
          .name = "naive",
          .types = coefficient_types,
          .source = "the definition, the output partitioned",
          .tuning = axes,
          .unsupported = unsupported,
          .run = run};
}

}  // namespace tilewise::impl::polymul
