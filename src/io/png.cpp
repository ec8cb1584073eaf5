// SPDX-License-Identifier: Apache-2.0
#include "io/png.hpp"

#include "io/replacement_file.hpp"

#include <tilewise/error.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

#include <png.h>

namespace tilewise::io {

namespace {

/// OKLab to sRGB.
std::array<std::uint8_t, 3> rgb_of(double lightness, double a, double b) {
  const auto cube = [](double x) { return x * x * x; };
  const double l = cube(lightness + 0.3963377774 * a + 0.2158037573 * b);
  const double m = cube(lightness - 0.1055613458 * a - 0.0638541728 * b);
  const double s = cube(lightness - 0.0894841775 * a - 1.2914855480 * b);
  const auto encoded = [](double linear) {
    const double x = std::clamp(linear, 0.0, 1.0);
    return static_cast<std::uint8_t>(
        std::lround(255 * (x <= 0.0031308 ? 12.92 * x : 1.055 * std::pow(x, 1 / 2.4) - 0.055)));
  };
  return {encoded(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
          encoded(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
          encoded(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

}  // namespace

palette perceptual_palette() {
  palette colours;
  for (std::size_t value = 0; value < colours.size(); ++value) {
    const double t = static_cast<double>(value) / 255;
    const double hue = (290 - 185 * t) * std::numbers::pi / 180;  // blue to yellow
    const double chroma = 0.07 + 0.08 * t;                        // dark blues and light yellows stay within sRGB
    colours[value] = rgb_of(0.2 + 0.75 * t, chroma * std::cos(hue), chroma * std::sin(hue));
  }
  return colours;
}

void require_picture(std::uint64_t width, std::uint64_t height) {
  constexpr std::uint64_t most = 0xffffffff;  // libpng counts uncompressed bytes, plus one per row, in 32 bits
  if (std::max(width, height) <= PNG_USER_WIDTH_MAX && (width + 1) * height <= most) return;
  throw error(errc::invalid_argument, "a picture of " + std::to_string(width) + "x" + std::to_string(height) +
                                          " pixels is too large for a PNG file, which has at most " +
                                          std::to_string(PNG_USER_WIDTH_MAX) + " pixels a side, and at most " +
                                          std::to_string(most) + " in all, counting one more for each row");
}

std::vector<std::byte> encode_png(const picture& image, const palette* colours) {
  png_image of{};
  of.version = PNG_IMAGE_VERSION;
  of.width = image.width;
  of.height = image.height;
  of.format = colours == nullptr ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB_COLORMAP;
  of.colormap_entries = colours == nullptr ? 0 : static_cast<png_uint_32>(colours->size());
  std::vector<std::byte> file(PNG_IMAGE_PNG_SIZE_MAX(of));
  png_alloc_size_t size = file.size();
  const bool done = png_image_write_to_memory(&of, file.data(), &size, 0, image.pixels.data(), 0, colours) != 0;
  if (!done && std::min(image.width, image.height) > 0 && std::max(image.width, image.height) <= PNG_USER_WIDTH_MAX)
    throw error(errc::out_of_memory, "the host has too little memory left for a picture of " +
                                         std::to_string(image.width) + "x" + std::to_string(image.height) +
                                         " pixels; libpng says: " + of.message);
  if (!done)
    throw error(errc::io, "a picture of " + std::to_string(image.width) + "x" + std::to_string(image.height) +
                              " pixels cannot become a PNG file, whose sides must be 1 to " +
                              std::to_string(PNG_USER_WIDTH_MAX) + " long; libpng says: " + of.message);
  file.resize(size);
  return file;
}

void write_png(const std::string& path, const picture& image, const palette* colours) {
  const std::vector<std::byte> file = encode_png(image, colours);
  replacement_file out(path);
  out.write(file);
  out.commit();
}

}  // namespace tilewise::io
