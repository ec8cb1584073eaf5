#include "io/png.hpp"

#include "io/printable.hpp"
#include "io/replacement_file.hpp"

#include <tilewise/error.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>
#include <vector>

namespace tilewise::io {

namespace {

using byte_string = std::vector<std::uint8_t>;

void append_big_endian(byte_string& to, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) to.push_back(static_cast<std::uint8_t>(value >> shift));
}

/// CRC-32 of PNG, appendix D.
std::uint32_t crc_of(std::span<const std::uint8_t> bytes) {
  std::uint32_t crc = 0xffffffffu;
  static const auto table = [] {
    std::array<std::uint32_t, 256> entries{};
    for (std::uint32_t n = 0; n < 256; ++n) {
      entries[n] = n;
      for (int bit = 0; bit < 8; ++bit)
        entries[n] = (entries[n] & 1) != 0 ? 0xedb88320u ^ (entries[n] >> 1) : entries[n] >> 1;
    }
    return entries;
  }();
  for (const std::uint8_t byte : bytes) crc = table[(crc ^ byte) & 0xff] ^ (crc >> 8);
  return ~crc;
}

void append_chunk(byte_string& file, std::string_view type, std::span<const std::uint8_t> data) {
  append_big_endian(file, static_cast<std::uint32_t>(data.size()));
  const std::size_t checked = file.size();
  file.insert(file.end(), type.begin(), type.end());
  file.insert(file.end(), data.begin(), data.end());
  append_big_endian(file, crc_of(std::span(file).subspan(checked)));
}

/// A zlib stream (RFC 1950) of stored blocks (RFC 1951, 3.2.4).
byte_string stored(std::span<const std::uint8_t> data) {
  constexpr std::size_t largest_block = 65535;
  byte_string stream{0x78, 0x01};
  std::uint32_t a = 1, b = 0;  // Adler-32
  for (const std::uint8_t byte : data) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
  }
  while (!data.empty()) {
    const std::size_t length = std::min(data.size(), largest_block);
    stream.push_back(length == data.size());
    for (const std::size_t word : {length, ~length})
      for (const int shift : {0, 8}) stream.push_back(static_cast<std::uint8_t>(word >> shift));
    stream.insert(stream.end(), data.begin(), data.begin() + static_cast<std::ptrdiff_t>(length));
    data = data.subspan(length);
  }
  append_big_endian(stream, b << 16 | a);
  return stream;
}

/// Each row behind the number of its filter, none.
byte_string filtered_rows(const picture& image) {
  byte_string rows;
  rows.reserve(image.pixels.size() + image.height);
  for (std::size_t row = 0; row < image.height; ++row) {
    rows.push_back(0);
    const auto pixels = image.pixels.subspan(row * image.width, image.width);
    rows.insert(rows.end(), pixels.begin(), pixels.end());
  }
  return rows;
}

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
    const double chroma = 0.07 + 0.08 * t;                        // dark blues and light yellows stay displayable
    colours[value] = rgb_of(0.2 + 0.75 * t, chroma * std::cos(hue), chroma * std::sin(hue));
  }
  return colours;
}

void write_png(const std::string& path, const picture& image, const palette* colours) {
  constexpr std::size_t most = std::size_t{1} << 30;  // a chunk has less than 2^31 bytes
  if (image.pixels.empty() || image.pixels.size() > most)
    throw error(errc::io,
                printable(path) + ": a picture has 1 to 2^30 pixels, not " + std::to_string(image.pixels.size()));
  byte_string file{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'}, header;
  append_big_endian(header, image.width);
  append_big_endian(header, image.height);
  const std::uint8_t colour_type = colours == nullptr ? 0 : 3;
  for (const std::uint8_t field : {std::uint8_t{8}, colour_type, std::uint8_t{0}, std::uint8_t{0}, std::uint8_t{0}})
    header.push_back(field);
  append_chunk(file, "IHDR", header);
  if (colours != nullptr) append_chunk(file, "PLTE", {colours->front().data(), sizeof *colours});
  append_chunk(file, "IDAT", stored(filtered_rows(image)));
  append_chunk(file, "IEND", {});
  replacement_file out(path);
  out.write(std::as_bytes(std::span(file)));
  out.commit();
}

}  // namespace tilewise::io
