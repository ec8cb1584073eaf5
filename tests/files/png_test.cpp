// SPDX-License-Identifier: Apache-2.0
// PNG files: libpng reads what was written, and what cannot be a PNG is refused with a message.
#include "io/png.hpp"

#include "helpers.hpp"

#include <png.h>

#include <gtest/gtest.h>

#include <cstdlib>

#include <sys/resource.h>

namespace tilewise::io {
namespace {

/// A picture with more rows and columns than a byte can count, and with no two equal rows.
picture pattern() {
  picture image{300, 270, {}};
  for (unsigned i = 0; i < image.width * image.height; ++i)
    image.pixels.push_back(static_cast<std::uint8_t>(i * i >> 9));
  return image;
}

/// The pixels in one of libpng's formats, with interleaved channels.
std::vector<std::uint8_t> decoded(const std::vector<std::byte>& file, png_uint_32 format) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  EXPECT_NE(png_image_begin_read_from_memory(&image, file.data(), file.size()), 0) << image.message;
  image.format = format;
  std::vector<std::uint8_t> pixels(PNG_IMAGE_SIZE(image));
  EXPECT_NE(png_image_finish_read(&image, nullptr, pixels.data(), 0, nullptr), 0) << image.message;
  return pixels;
}

TEST(Png, GreyValuesComeBack) {
  const picture image = pattern();
  EXPECT_EQ(decoded(encode_png(image), PNG_FORMAT_GRAY), image.pixels);
}

TEST(Png, ColoursAreThePalettes) {
  const picture image = pattern();
  const palette colours = perceptual_palette();
  std::vector<std::uint8_t> wanted;
  for (const std::uint8_t value : image.pixels)
    wanted.insert(wanted.end(), colours[value].begin(), colours[value].end());
  EXPECT_EQ(decoded(encode_png(image, &colours), PNG_FORMAT_RGB), wanted);
}

TEST(Png, IsCompressed) {
  const picture plain{1000, 1000, std::vector<std::uint8_t>(1000000, 7)};
  EXPECT_LT(encode_png(plain).size(), 10000u);
}

TEST(Png, SidesThatNoFileHasAreRefused) {
  for (const auto& [width, height] : {std::pair{0u, 0u}, {5u, 0u}, {1000001u, 1u}}) {
    const picture image{width, height, std::vector<std::uint8_t>(std::size_t{width} * height)};
    const std::string told = tests::message_of(errc::io, [&] { encode_png(image); });
    EXPECT_NE(told.find(" cannot become a PNG file, whose sides must be 1 to 1000000 long; libpng says: "), told.npos)
        << told;
  }
}

TEST(Png, TooManyPixelsAreRefusedBeforeThereAreAny) {
  for (const auto& [width, height] : {std::pair{1000000u, 4293u}, {4293u, 1000000u}, {65535u, 65535u}, {1u, 1u}})
    EXPECT_NO_THROW(require_picture(width, height)) << width;
  for (const auto& [width, height] : {std::pair{1000001u, 1u}, {1u, 1000001u}, {65535u, 65536u}, {1000000u, 4295u}}) {
    const std::string told = tests::message_of(errc::invalid_argument, [&] { require_picture(width, height); });
    EXPECT_NE(told.find(" pixels is too large for a PNG file, which has at most 1000000 pixels a side, "), told.npos)
        << told;
  }
}

/// Exits with 0 if the lack of memory in libpng is reported.
[[noreturn]] void encode_without_memory() {
  const picture image{1, 1, {0}};
  const rlimit none{0, 0};
  setrlimit(RLIMIT_AS, &none);
  while (std::malloc(1 << 15) != nullptr) continue;  // leaves too little for zlib, but enough for the picture
  try {
    encode_png(image, nullptr);
  } catch (const error& e) {
    std::_Exit(e.code() == errc::out_of_memory ? 0 : 1);
  } catch (const std::bad_alloc&) {
    std::_Exit(2);
  }
  std::_Exit(3);
}

TEST(Png, WithoutMemoryItIsNoFilesFault) {
  if (tests::test_cover() == tests::cover::few) GTEST_SKIP() << "sanitizers need address space of their own";
  EXPECT_EXIT(encode_without_memory(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace tilewise::io
