// SPDX-License-Identifier: Apache-2.0
// What only convolve must satisfy; the bits of every variant at the edge shapes are checked from the catalog.
#include "backend/cpu/device.hpp"
#include "helpers.hpp"
#include "special_values.hpp"

#include <tilewise/tilewise.hpp>

#include <bit>
#include <limits>
#include <memory>

#include <gtest/gtest.h>

namespace tilewise {
namespace {

using tests::bits_like;
using tests::code_of;
using tests::expect_bits;
using tests::message_of;

template <class T>
bits_like<T> bits(T value) {
  return std::bit_cast<bits_like<T>>(value);
}

/// Exponents over half the range, so that another order, a fused step or a lost tap shows.
template <class T>
std::vector<T> wide_values(std::uint64_t count, std::uint64_t seed) {
  std::vector<T> values(count);
  lab::generate(lab::data_class::cancelling, seed, dtype_of<T>, 0, count, values.data());
  return values;
}

/// The definition once more, on an image that is padded beforehand.
template <class T>
std::vector<T> expected(const std::vector<T>& x, image_size of_x, const std::vector<T>& mask, image_size of_mask,
                        border at_edges) {
  const std::uint64_t above = at_edges == border::zero ? of_mask.rows / 2 : 0;
  const std::uint64_t left = at_edges == border::zero ? of_mask.columns / 2 : 0;
  const std::uint64_t width = of_x.columns + 2 * left;
  std::vector<T> padded((of_x.rows + 2 * above) * width);
  for (std::uint64_t i = 0; i < of_x.rows; ++i)
    for (std::uint64_t j = 0; j < of_x.columns; ++j) padded[(i + above) * width + j + left] = x[i * of_x.columns + j];
  const image_size size = convolved_size(of_x, of_mask, at_edges);
  std::vector<T> y(size.rows * size.columns);
  for (std::uint64_t e = 0; e < y.size(); ++e) {
    for (std::uint64_t tap = 0; tap < mask.size(); ++tap) {
      const std::uint64_t row = e / size.columns + tap / of_mask.columns,
                          column = e % size.columns + tap % of_mask.columns;
      const T product = mask[tap] * padded[row * width + column];
      y[e] = y[e] + product;
    }
    if (y[e] != y[e])
      y[e] = std::bit_cast<T>(sizeof(T) == 4 ? bits_like<T>(0x7fc00000u) : bits_like<T>(0x7ff8000000000000u));
  }
  return y;
}

template <class T>
std::vector<T> convolved(const std::vector<T>& x, image_size of_x, const std::vector<T>& mask, image_size of_mask,
                         const convolve_options& options) {
  const image_size size = convolved_size(of_x, of_mask, options.border);
  std::vector<T> y(size.rows * size.columns, T(42));
  convolve(std::span<const T>(x), of_x, std::span<const T>(mask), of_mask, std::span<T>(y), options);
  return y;
}

constexpr std::array borders{border::valid, border::zero};

template <class T>
class Convolve : public testing::Test {};
using types = testing::Types<float, double>;
TYPED_TEST_SUITE(Convolve, types);

TYPED_TEST(Convolve, EveryResultIsTheDefinitionsChain) {
  for (image_size of_mask : {image_size{1, 1}, {3, 3}, {5, 5}, {3, 5}, {1, 9}, {9, 1}, {7, 7}, {31, 31}, {33, 35}}) {
    const image_size of_x{67, 133};
    const auto x = wide_values<TypeParam>(of_x.rows * of_x.columns, 1);
    const auto mask = wide_values<TypeParam>(of_mask.rows * of_mask.columns, 2);
    for (border at_edges : borders) {
      const auto wanted = expected(x, of_x, mask, of_mask, at_edges);
      for (auto level : backend::cpu::instruction_sets()) {
        const std::string name(name_of(level));
        const device cpu = open("cpu", {.threads = 2, .instruction_set = name});
        expect_bits(convolved(x, of_x, mask, of_mask, {.border = at_edges, .device = cpu, .variant = "direct"}), wanted,
                    name);
      }
    }
  }
}

/// Each special value as a pixel under each as a weight, in the middle of taps that leave it as it is.
TYPED_TEST(Convolve, SpecialValues) {
  const auto special = tests::special_values<TypeParam>();
  const std::vector<TypeParam> x(special.begin(), special.end());
  for (TypeParam weight : special)
    for (border at_edges : borders) {
      const std::vector<TypeParam> mask{0, 0, 0, TypeParam(1), weight, 0, 0, 0, 0};
      expect_bits(convolved(x, {8, 8}, mask, {3, 3}, {.border = at_edges}), expected(x, {8, 8}, mask, {3, 3}, at_edges),
                  "weight " + std::to_string(weight));
    }
}

TYPED_TEST(Convolve, TheMaskIsNotTurnedRound) {
  const std::vector<TypeParam> x{0, 0, 0, 0, 1, 0, 0, 0, 0}, mask{1, 2, 3, 4, 5, 6, 7, 8, 9};
  const std::vector<TypeParam> turned{9, 8, 7, 6, 5, 4, 3, 2, 1};  // turns one pixel into a reversed image
  EXPECT_EQ(convolved(x, {3, 3}, mask, {3, 3}, {.border = border::zero}), turned);
}

TYPED_TEST(Convolve, EveryTapCounts) {
  constexpr TypeParam infinity = std::numeric_limits<TypeParam>::infinity();
  const std::vector<TypeParam> x(9, 1), mask{infinity, 0, 0, 0, 1, 0, 0, 0, 0};
  const auto y = convolved(x, {3, 3}, mask, {3, 3}, {.border = border::zero});
  const auto nan = bits(std::numeric_limits<TypeParam>::quiet_NaN());
  for (std::uint64_t e = 0; e < 9; ++e)  // above and to the left of the image is +0
    EXPECT_EQ(bits(y[e]), e < 3 || e % 3 == 0 ? nan : bits(infinity)) << e;
  const std::vector<TypeParam> hot{1, infinity, 1}, blind{0, 0, 0};
  EXPECT_EQ(bits(convolved(hot, {1, 3}, blind, {1, 3}, {})[0]), nan);  // a weight of zero does not hide a pixel
}

TYPED_TEST(Convolve, TheChainStartsAtPlusZero) {
  EXPECT_EQ(bits(convolved<TypeParam>({0}, {1, 1}, {-1}, {1, 1}, {})[0]), 0u);
}

TYPED_TEST(Convolve, ProductsAreRounded) {
  constexpr TypeParam epsilon = std::numeric_limits<TypeParam>::epsilon(), a = 1 + epsilon;
  EXPECT_EQ(convolved<TypeParam>({-(a * a), a, 0}, {1, 3}, {1, a, 0}, {1, 3}, {})[0], 0);
}

/// On every device present; the mask may be a small part of the caller's memory.
TYPED_TEST(Convolve, ArraysOnADevice) {
  const auto x = wide_values<TypeParam>(40 * 50, 1), many = wide_values<TypeParam>(40'000, 2);
  const std::vector<TypeParam> mask(many.begin(), many.begin() + 9);
  for (const device& on : tests::devices_with("convolve")) {
    const auto image = on.upload(x), much = on.upload(many);
    const auto weights = view<TypeParam>(on, much.storage().template as<void>(), 9);
    for (border at_edges : borders) {
      const auto wanted = expected(x, {40, 50}, mask, {3, 3}, at_edges);
      auto y = on.allocate<TypeParam>(wanted.size());
      convolve(image, {40, 50}, weights, {3, 3}, y, {.border = at_edges});
      expect_bits(y.download(), wanted, on.name());
    }
  }
}

/// How a device may compute a convolution.
struct way {
  device on;
  std::string variant, tuning;
};

/// Every variant, on every device of its backend; "packs" with every tile, as small images get the small one.
std::vector<way> every_way() {
  std::vector<way> all;
  for (const device& on : tests::devices_with("convolve"))
    for (const registry::variant* v : registry::variants_of(registry::find_algorithm("convolve"))) {
      if (v->peer || v->device_backend() != on.info().backend) continue;
      const auto tunings =
          v->name == "packs" ? registry::tuning_space(v->tuning) : std::vector{registry::default_tuning(v->tuning)};
      for (const auto& t : tunings) all.push_back({on, v->id(), registry::to_string(t, v->tuning)});
    }
  return all;
}

/// Tiles within the image and at each of its edges; rows that begin at multiples of 16 bytes, and others. With a border
/// of zeros, 95 rows, 380 columns of f32 and 380 or 382 of f64 end with a GPU's tile, but not with its pixels' halo.
TYPED_TEST(Convolve, TilesOnEveryDevice) {
  constexpr std::uint64_t rows = 95;
  const auto x = wide_values<TypeParam>(1 + rows * 401, 1), weights = wide_values<TypeParam>(11 * 11, 2);
  const std::vector<way> ways = every_way();
  for (image_size of_mask : {image_size{3, 3}, {5, 5}, {7, 7}, {9, 9}, {5, 7}, {11, 11}}) {
    const std::vector<TypeParam> mask(weights.begin(), weights.begin() + of_mask.rows * of_mask.columns);
    for (image_size of_x : {image_size{rows, 380}, {rows, 382}, {rows, 401}})
      for (std::uint64_t first : {0u, 1u})
        for (border at_edges : borders) {
          const std::uint64_t count = of_x.rows * of_x.columns;
          const std::vector<TypeParam> part(x.begin() + first, x.begin() + first + count);
          const auto wanted = expected(part, of_x, mask, of_mask, at_edges);
          for (const way& w : ways) {
            const auto much = w.on.upload(x), mask_there = w.on.upload(mask);
            const auto place = std::make_shared<backend::memory>(
                much.storage().at(first * sizeof(TypeParam), count * sizeof(TypeParam)));
            auto y = w.on.upload(std::vector<TypeParam>(wanted.size(), TypeParam(42)));
            try {
              convolve(array<TypeParam>(w.on, place, count), of_x, mask_there, of_mask, y,
                       {.border = at_edges, .variant = w.variant, .tuning = w.tuning});
            } catch (const error& e) {
              if (e.code() != errc::unsupported) throw;
              continue;  // such as other masks than the variant has
            }
            expect_bits(y.download(), wanted,
                        w.variant + " " + w.tuning + " on " + w.on.name() + ", " + std::to_string(of_mask.rows) +
                            " rows of a mask, " + std::to_string(of_x.columns) + " columns from " +
                            std::to_string(first));
          }
        }
  }
}

/// An image with several tiles for each group that runs at once; other variants have a group for each tile.
TEST(ConvolveBoxes, SeveralTilesOfAGroup) {
  const image_size of_x{2100, 2304};
  for (const way& w : every_way()) {
    if (w.variant != "convolve/cuda:boxes") continue;
    const auto x = wide_values<float>(of_x.rows * of_x.columns, 1);
    for (std::uint64_t side : {5u, 7u, 9u})
      for (border at_edges : borders) {
        const auto mask = wide_values<float>(side * side, side);
        const auto wanted = convolved(x, of_x, mask, {side, side}, {.border = at_edges, .device = open("cpu")});
        expect_bits(convolved(x, of_x, mask, {side, side}, {.border = at_edges, .device = w.on, .variant = w.variant}),
                    wanted, w.on.name() + ", " + std::to_string(side) + " rows of a mask");
      }
  }
}

/// Masks that fit no tile in local memory.
TYPED_TEST(Convolve, HugeMasksOnEveryDevice) {
  const image_size of_x{3, 5}, of_mask{401, 403};
  const auto x = wide_values<TypeParam>(15, 1), mask = wide_values<TypeParam>(of_mask.rows * of_mask.columns, 2);
  const auto wanted = expected(x, of_x, mask, of_mask, border::zero);
  for (const device& on : tests::devices_with("convolve"))
    expect_bits(convolved(x, of_x, mask, of_mask, {.border = border::zero, .device = on}), wanted, on.name());
}

/// A faulty call, which must leave y as it is.
class ConvolveErrors : public testing::Test {
 protected:
  std::string message(image_size of_x, image_size of_mask, border at_edges = border::valid) {
    const std::string text = message_of(errc::invalid_argument, [&] {
      convolve(std::span<const float>(x_), of_x, std::span<const float>(mask_), of_mask, std::span<float>(y_),
               {.border = at_edges});
    });
    EXPECT_EQ(y_, std::vector<float>(4, 42.0f));
    return text;
  }
  static void expect_words(const std::string& text, std::initializer_list<const char*> words) {
    for (const char* word : words) EXPECT_NE(text.find(word), std::string::npos) << word << " in: " << text;
  }

  std::vector<float> x_ = tests::wide_floats(16, 1), mask_ = tests::wide_floats(9, 2),
                     y_ = std::vector<float>(4, 42.0f);
};

TEST_F(ConvolveErrors, MasksWithoutAMiddle) {
  for (border at_edges : borders) {
    expect_words(message({4, 4}, {2, 3}, at_edges), {"2x3", "odd"});
    expect_words(message({4, 4}, {3, 4}, at_edges), {"3x4", "odd"});
    expect_words(message({4, 4}, {0, 0}, at_edges), {"0x0", "odd"});
  }
}

TEST_F(ConvolveErrors, MasksThatDoNotFit) {
  expect_words(message({4, 4}, {5, 1}), {"5x1", "4x4", "must fit"});
  expect_words(message({4, 4}, {1, 5}), {"1x5", "4x4", "must fit"});
}

TEST_F(ConvolveErrors, ImagesWithoutPixels) {
  for (border at_edges : borders)
    for (image_size nothing : {image_size{0, 4}, {4, 0}, {0, 0}})
      expect_words(message(nothing, {3, 3}, at_edges), {"it must have at least one pixel"});
}

TEST_F(ConvolveErrors, SpansOfOtherSizes) {
  expect_words(message({5, 4}, {3, 3}), {"the image", "5x4", "20", "16"});
  expect_words(message({4, 4}, {3, 1}), {"the mask", "3x1", "9"});
  expect_words(message({4, 4}, {3, 3}, border::zero), {"y", "4x4", "16", "4"});
}

TEST_F(ConvolveErrors, SizesThatOverflow) {
  const std::uint64_t huge = std::uint64_t{1} << 33;
  expect_words(message({huge, huge}, {3, 3}), {"the image", "8589934592x8589934592"});
  expect_words(message({4, 4}, {huge + 1, huge + 1}, border::zero), {"the mask", "8589934593x8589934593"});
  // Sides that are odd, and whose product is 9 where it wraps.
  const std::uint64_t rows = (std::uint64_t{1} << 32) + 1, columns = 9 * (1 - (std::uint64_t{1} << 32));
  expect_words(message({4, 4}, {rows, columns}, border::zero),
               {"the mask", "more bytes than a 64-bit address reaches"});
}

TEST_F(ConvolveErrors, OverlapOfTheResultWithAnOperand) {
  std::vector<float> memory = tests::wide_floats(29, 3);
  const std::vector<float> before = memory;
  const std::span<float> all(memory);
  for (std::size_t first : {0u, 15u, 24u}) {
    const std::string text = message_of(errc::invalid_argument, [&] {
      const std::span<const float> x(all.subspan(0, 16)), mask(all.subspan(16, 9));
      convolve(x, {4, 4}, mask, {3, 3}, all.subspan(first, 4));
    });
    expect_words(text, {"y shares memory with", first < 16 ? "the image" : "the mask"});
  }
  EXPECT_EQ(memory, before);
  auto array = open("cpu").upload(std::vector<float>(1));
  const auto mask = open("cpu").upload(std::vector<float>(1));
  EXPECT_EQ(code_of([&] { convolve(array, {1, 1}, mask, {1, 1}, array); }), errc::invalid_argument);
}

}  // namespace
}  // namespace tilewise
