// SPDX-License-Identifier: Apache-2.0
// The probe's four operations. They run on the queue's own threads, since a flush-to-zero mode belongs to a thread.
#include "backend/cpu/device.hpp"
#include "base/ceil_div.hpp"
#include "order/operators.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tilewise::backend::cpu {

arithmetic queue::probe_arithmetic(std::span<const float> a, std::span<const float> b, std::span<const float> c) {
  constexpr std::uint64_t tile_length = 64;  // some tiles for each thread
  const std::uint64_t n = a.size();
  arithmetic got{.multiply_add = std::vector<float>(n),
                 .fused = std::vector<float>(n),
                 .sum = std::vector<float>(n),
                 .wrapping = std::vector<std::int32_t>(n)};
  for_each_tile(ceil_div(n, tile_length), [&](std::uint64_t tile, unsigned) {
    for (std::uint64_t i = tile * tile_length; i < std::min(n, (tile + 1) * tile_length); ++i) {
      const auto bits = [i](std::span<const float> v) { return std::bit_cast<std::int32_t>(v[i]); };
      got.multiply_add[i] = a[i] * b[i] + c[i];
      got.fused[i] = std::fma(a[i], b[i], c[i]);
      got.sum[i] = order::canonical(a[i] + b[i]);
      got.wrapping[i] = order::sum::apply(order::product::apply(bits(a), bits(b)), bits(c));
    }
  });
  return got;
}

}  // namespace tilewise::backend::cpu
