// SPDX-License-Identifier: Apache-2.0
// Pictures of fields as PNG files, one byte per pixel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tilewise::io {

/// Red, green and blue of each of the 256 values that a byte has.
using palette = std::array<std::array<std::uint8_t, 3>, 256>;

/// From dark blue through green to light yellow: equal steps of a value are equal steps of lightness, so that the
/// picture reads the same printed in grey or seen by people who see fewer colours. Lightness is that of OKLab (B.
/// Ottosson, A perceptual color space for image processing, 2020).
palette perceptual_palette();

struct picture {
  std::uint32_t width, height;
  std::vector<std::uint8_t> pixels;  // row by row from the top
};

/// Throws `invalid_argument`, with the limit, for more pixels than encode_png takes, so that this is known before there
/// are any.
void require_picture(std::uint64_t width, std::uint64_t height);

/// The bytes of a PNG file; grey without `colours`. Throws `io` for sides that libpng refuses: 0, or beyond 1,000,000.
std::vector<std::byte> encode_png(const picture& image, const palette* colours = nullptr);

/// The same to a temporary file that is renamed. Throws `io`.
void write_png(const std::string& path, const picture& image, const palette* colours = nullptr);

}  // namespace tilewise::io
