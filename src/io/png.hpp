// SPDX-License-Identifier: Apache-2.0
// Pictures of fields as PNG files, one byte per pixel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tilewise::io {

/// Red, green and blue for each of the 256 values of a byte.
using palette = std::array<std::array<std::uint8_t, 3>, 256>;

/// From dark blue through green to light yellow. Equal steps of the value are equal steps of lightness, so that the
/// picture can also be read in greyscale or by colour-blind people. The lightness is OKLab's (B. Ottosson, A perceptual
/// color space for image processing, 2020).
palette perceptual_palette();

struct picture {
  std::uint32_t width, height;
  std::vector<std::uint8_t> pixels;  // row by row from the top
};

/// Throws `invalid_argument`, with the limit, for sizes that encode_png does not support. Call it before computing
/// pixels.
void require_picture(std::uint64_t width, std::uint64_t height);

/// The bytes of a PNG file, in grey without `colours`. Throws `io` if the width or height is 0 or above 1,000,000,
/// which libpng refuses.
std::vector<std::byte> encode_png(const picture& image, const palette* colours = nullptr);

/// Writes the same to a temporary file, which is then renamed. Throws `io`.
void write_png(const std::string& path, const picture& image, const palette* colours = nullptr);

}  // namespace tilewise::io
