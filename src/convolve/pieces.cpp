// SPDX-License-Identifier: Apache-2.0
// Convolves an image on the host with a device, one band of rows at a time.
#include "divide/pieces.hpp"
#include "convolve/problem.hpp"

#include <algorithm>

namespace tilewise::impl::convolve {

namespace {

/// Computes bands of rows of the result, each from the image rows under its masks. With border `zero`, a band is
/// computed as an image of its own; rows of its result whose masks reach beyond the band are dropped.
void run(const registry::problem& p, const registry::choice& how, backend::queue& queue,
         const registry::host_pointers& host) {
  const sizes s(p);
  const std::uint64_t row_of_image = s.image.columns * size_of(p.type), row_of_y = s.result.columns * size_of(p.type);
  const auto part = [&](std::uint64_t first, std::uint64_t n) {
    const std::uint64_t from = first - std::min(first, s.above);
    const std::uint64_t to = std::min(s.image.rows, first + n + s.mask.rows - 1 - s.above);
    registry::problem band = p;
    band.shape.size[0] = to - from;
    const std::uint64_t computed = sizes(band).result.rows, before = first - from;
    return std::pair{band, divide::piece{.in = {{{from * row_of_image, (to - from) * row_of_image},
                                                 {0, s.mask.rows * s.mask.columns * size_of(p.type)}}},
                                         .out = {{{first * row_of_y, n * row_of_y}}},
                                         .before = {before * row_of_y},
                                         .after = {(computed - before - n) * row_of_y}}};
  };
  divide::run_rows(how, queue, host,
                   {.count = s.result.rows, .row_bytes = row_of_image, .needed_whole = {false, true}, .part = part});
}

}  // namespace

const registry::division division{.is_possible = divide::always_divisible, .run = run};

}  // namespace tilewise::impl::convolve
