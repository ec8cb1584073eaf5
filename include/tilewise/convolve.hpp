// SPDX-License-Identifier: Apache-2.0
// Convolution of an image with a mask.
#pragma once

#include <tilewise/array.hpp>
#include <tilewise/error.hpp>
#include <tilewise/export.hpp>

#include <optional>

namespace tilewise {

template <class T>
concept pixel = std::same_as<T, float> || std::same_as<T, double>;

/// Rows and columns of an image or a mask. Pixels lie row by row, with nothing between the rows.
struct image_size {
  std::uint64_t rows;     ///< from top to bottom
  std::uint64_t columns;  ///< from left to right
};

/// What is done where the mask reaches beyond the image's edge.
enum class border : std::uint8_t {
  valid,  ///< no result there: the result is smaller than the image by the mask's size less one
  zero,   ///< the image continues with +0; the result has the image's size
};

/// Where and how `convolve` computes.
struct convolve_options {
  tilewise::border border = tilewise::border::valid;  ///< at the edges
  std::optional<tilewise::device> device = {};        ///< of host data, default: the CPU; of arrays only their own
  std::string_view variant = {};                      ///< force one, such as "tiles"; default: chosen
  std::string_view tuning = {};                       ///< never changes a bit
};

/// The size of a result. Throws `invalid_argument`, with the sizes, for a mask with an even number of rows or columns,
/// for an image without pixels, and, with border::valid, for a mask that is larger than the image.
TILEWISE_API image_size convolved_size(image_size image, image_size mask, border at_edges);

/// y[i, j] is the sum of mask[r, s] * x[i + r - h, j + s - w] over all r and s, where h and w are half the mask's rows
/// and columns, rounded down; the mask is not flipped. With border::valid, i and j count from h and w.
/// From v = +0: for r ascending, for s ascending: v = v + mask[r, s] * x[...], product and sum each rounded. Every tap
/// counts: with border::zero, those beyond the image are products with +0, of which an infinite weight makes a NaN. A
/// NaN result is the canonical one. The image, the mask and y have the sizes that are given, and y overlaps neither.
/// Throws `invalid_argument`, with the sizes, before anything is touched.
/// Source: Gonzalez and Woods, Digital Image Processing, 4th edition, 3.4; order.md says more of the order.
template <pixel T>
TILEWISE_API void convolve(std::span<const T> image, image_size of_image, std::span<const T> mask, image_size of_mask,
                           std::span<T> y, const convolve_options& options = {});

/// The same on a device, asynchronous in its queue.
template <pixel T>
TILEWISE_API void convolve(const array<T>& image, image_size of_image, const array<T>& mask, image_size of_mask,
                           array<T>& y, const convolve_options& options = {});

template <host_range Image, host_range<element_of<Image>> Mask, host_output<element_of<Image>> Y>
void convolve(const Image& image, image_size of_image, const Mask& mask, image_size of_mask, Y&& y,
              const convolve_options& options = {}) {
  tilewise::convolve(as_input(image), of_image, as_input(mask), of_mask, as_output(y), options);
}
template <host_range Image, host_range<element_of<Image>> Mask>
std::vector<element_of<Image>> convolve(const Image& image, image_size of_image, const Mask& mask, image_size of_mask,
                                        const convolve_options& options = {}) {
  const image_size result = convolved_size(of_image, of_mask, options.border);
  auto y = host_result<element_of<Image>>(result.rows * result.columns);
  tilewise::convolve(as_input(image), of_image, as_input(mask), of_mask, as_output(y), options);
  return y;
}
template <pixel T>
array<T> convolve(const array<T>& image, image_size of_image, const array<T>& mask, image_size of_mask,
                  const convolve_options& options = {}) {
  const image_size result = convolved_size(of_image, of_mask, options.border);
  array<T> y = image.device().template allocate<T>(result.rows * result.columns);
  tilewise::convolve(image, of_image, mask, of_mask, y, options);
  return y;
}

}  // namespace tilewise
