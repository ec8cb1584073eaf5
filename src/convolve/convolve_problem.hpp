// How a convolution is written as a registry::problem: shape {rows, columns, mask_rows, mask_columns}, setting border.
#pragma once

#include "registry/algorithm.hpp"

#include <tilewise/convolve.hpp>

#include <array>

namespace tilewise::impl::convolve {

const registry::algorithm& convolve_algorithm();

inline constexpr std::array float_types{dtype::f32, dtype::f64};
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

/// Calls `f` with a float or a double.
template <class F>
void with_float(dtype type, F&& f) {
  if (type == dtype::f32)
    f(float{});
  else
    f(double{});
}

}  // namespace tilewise::impl::convolve
