// SPDX-License-Identifier: Apache-2.0
// Convolution of an image with a mask.
#pragma once

#include <tilewise/call.hpp>

namespace tilewise {

template <class T>
concept pixel = std::same_as<T, float> || std::same_as<T, double>;

/// Rows and columns of an image or a mask. Pixels are stored row by row, without gaps.
struct image_size {
  std::uint64_t rows;     ///< from top to bottom
  std::uint64_t columns;  ///< from left to right
};

/// What happens where the mask reaches beyond the image's edge.
enum class border : std::uint8_t {
  valid,  ///< no result there: the result has (mask's size - 1) fewer rows and columns than the image
  zero,   ///< the image continues with +0; the result has the image's size
};

/// Where and how `convolve` computes.
struct convolve_options {
  tilewise::border border = tilewise::border::valid;  ///< what happens at the edges
  std::optional<tilewise::device> device = {};        ///< for host data (default: the CPU); arrays use their own device
  std::string_view variant = {};                      ///< force one, such as "tiles"; default: chosen
  std::string_view tuning = {};                       ///< never changes a bit
};

/// The size of convolve's result. Throws `invalid_argument`, with the sizes, if the mask has an even number of rows or
/// columns, if the image has no pixels, or if the mask is larger than the image and the border is border::valid.
TILEWISE_API image_size convolved_size(image_size image, image_size mask, border at_edges);

namespace detail {

inline void convolve(const argument& image, const argument& mask, const argument& y, const convolve_options& options) {
  const argument in[]{image, mask};
  const setting settings[]{{"border", static_cast<unsigned>(options.border)}};
  call({.algorithm = "convolve", .in = in, .out = {&y, 1}, .settings = settings}, options);
}

}  // namespace detail

/// y[i, j] is the sum of mask[r, s] * x[i + r - h, j + s - w] over all r and s. Here x is the image, and h and w are
/// half the mask's rows and columns, rounded down. The mask is not flipped. With border::valid, i and j count from h
/// and w.
/// The order: v = +0; for r ascending, for s ascending: v = v + mask[r, s] * x[...], with product and sum each rounded.
/// No term is skipped: with border::zero, pixels beyond the image are +0, so an infinite weight there makes a NaN. A
/// NaN result is the canonical NaN. The image, the mask and y must have the given sizes, and y must not overlap the
/// other two. Throws `invalid_argument`, with the sizes, before it writes anything.
/// Asynchronous on a device.
/// Source: Gonzalez and Woods, Digital Image Processing, 4th edition, 3.4; docs/order.md describes the order.
template <plain_operand Image, beside<Image> Mask, output_beside<Image> Y>
requires pixel<element_of<Image>>
void convolve(const Image& image, image_size of_image, const Mask& mask, image_size of_mask, Y&& y,
              const convolve_options& options = {}) {
  detail::convolve(detail::argument_for("the image", image, {of_image.rows, of_image.columns}),
                   detail::argument_for("the mask", mask, {of_mask.rows, of_mask.columns}),
                   detail::argument_for("y", y), options);
}
/// Returns y.
template <plain_operand Image, beside<Image> Mask>
requires pixel<element_of<Image>>
auto convolve(const Image& image, image_size of_image, const Mask& mask, image_size of_mask,
              const convolve_options& options = {}) {
  const image_size result = convolved_size(of_image, of_mask, options.border);
  auto y = detail::result_beside<element_of<Image>>(image, result.rows * result.columns);
  tilewise::convolve(image, of_image, mask, of_mask, y, options);
  return y;
}

TILEWISE_REFUSE_OTHERS(convolve)

}  // namespace tilewise
