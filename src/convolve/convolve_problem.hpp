// SPDX-License-Identifier: Apache-2.0
// How a convolution is written as a registry::problem: shape {rows, columns, mask_rows, mask_columns}, setting border.
#pragma once

#include "base/ceil_div.hpp"
#include "registry/algorithm.hpp"

#include <tilewise/convolve.hpp>

#include <array>

namespace tilewise::impl::convolve {

const registry::algorithm& convolve_algorithm();

inline constexpr std::array<std::string_view, 2> borders{"valid", "zero"};  // as the enum has them

/// The sizes, and where the mask lies: result (i, j) takes the image from (i - above, j - left) on.
struct sizes {
  image_size image, mask, result;
  std::uint64_t above, left;

  explicit sizes(const registry::problem& p)
      : image{p.shape[0], p.shape[1]},
        mask{p.shape[2], p.shape[3]},
        result(image),
        above(mask.rows / 2),
        left(mask.columns / 2) {
    if (static_cast<border>(p.setting[0]) == border::zero) return;
    result = {image.rows - mask.rows + 1, image.columns - mask.columns + 1};
    above = left = 0;
  }
};

inline std::uint64_t tiles_of(const sizes& s, std::uint64_t tile_rows, std::uint64_t tile_columns) {
  return ceil_div(s.result.rows, tile_rows) * ceil_div(s.result.columns, tile_columns);
}

/// The number of rows and of columns of a mask for which GPU variants have unrolled loops; 0 of any other.
inline unsigned unrolled_rows(const image_size& mask) {
  const bool is_unrolled = mask.rows == mask.columns && mask.rows >= 3 && mask.rows <= 9;
  return is_unrolled ? static_cast<unsigned>(mask.rows) : 0;
}

}  // namespace tilewise::impl::convolve
