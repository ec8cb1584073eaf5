// SPDX-License-Identifier: Apache-2.0
// The descriptor of convolve.
#include "base/lasting.hpp"
#include "convolve/problem.hpp"
#include "registry/matrix_shape.hpp"

namespace tilewise::impl::convolve {

namespace {

using registry::extents;
using registry::operand;
using registry::problem;

constexpr std::array<registry::setting, 1> settings{{{"border", borders}}};

// One pixel, masks of one row or column, masks larger than the image (border zero only), images as large as the mask,
// around one vector and one tile on each side, prime sizes; the small masks that have their own paths, and the general
// one below, at and above its unrolled width.
constexpr std::array<extents, 34> edge_shapes{
    {{1, 1, 1, 1},     {1, 1, 3, 3},     {1, 2, 5, 3},     {2, 3, 7, 9},     {3, 3, 3, 3},     {3, 2, 1, 1},
     {5, 5, 5, 5},     {4, 5, 3, 5},     {7, 1, 7, 1},     {1, 300, 1, 31},  {300, 1, 31, 1},  {4, 67, 3, 3},
     {67, 4, 3, 3},    {17, 15, 3, 1},   {15, 17, 1, 3},   {16, 16, 5, 5},   {31, 33, 31, 31}, {33, 31, 31, 31},
     {31, 31, 33, 33}, {63, 65, 3, 3},   {64, 64, 5, 5},   {65, 63, 7, 7},   {66, 130, 3, 3},  {34, 129, 5, 5},
     {35, 127, 3, 7},  {127, 66, 9, 3},  {128, 258, 1, 1}, {129, 131, 3, 3}, {131, 257, 5, 5}, {97, 101, 31, 31},
     {40, 1031, 9, 5}, {1031, 37, 5, 9}, {70, 140, 65, 3}, {257, 300, 3, 3}}};
constexpr std::array<extents, 3> quick_shapes{{{1024, 1024, 3, 3}, {1024, 1024, 5, 5}, {512, 512, 31, 31}}};
constexpr std::array<extents, 10> normal_shapes{{{256, 256, 3, 3},
                                                 {1024, 1024, 3, 3},
                                                 {4096, 4096, 3, 3},
                                                 {8192, 8192, 3, 3},
                                                 {1024, 1024, 5, 5},
                                                 {4096, 4096, 5, 5},
                                                 {8192, 8192, 5, 5},
                                                 {2048, 2048, 9, 9},
                                                 {512, 512, 31, 31},
                                                 {4096, 4096, 31, 31}}};

double pixels(image_size of) { return static_cast<double>(of.rows) * static_cast<double>(of.columns); }

std::vector<operand> inputs(const problem& p) {
  const sizes s(p);
  return {{.name = "image", .type = p.type, .count = s.image.rows * s.image.columns, .row = s.image.columns},
          {"mask", p.type, s.mask.rows * s.mask.columns}};
}
std::vector<operand> outputs(const problem& p) {
  const sizes s(p);
  return {{.name = "y", .type = p.type, .count = s.result.rows * s.result.columns, .row = s.result.columns}};
}

/// A product and a sum for each tap.
double operations(const problem& p) {
  const sizes s(p);
  return 2.0 * pixels(s.result) * pixels(s.mask);
}

std::string invalid(const problem& p) {
  const image_size image{p.shape[0], p.shape[1]}, mask{p.shape[2], p.shape[3]};
  const auto of_image = [&] { return registry::shape_text(image.rows, image.columns); };
  const auto of_mask = [&] { return registry::shape_text(mask.rows, mask.columns); };
  if (mask.rows % 2 == 0 || mask.columns % 2 == 0)
    return "the mask is " + of_mask() + "; its rows and its columns must be odd, so that it has a centre";
  if (image.rows == 0 || image.columns == 0) return "the image is " + of_image() + "; it must have at least one pixel";
  if (static_cast<border>(p.setting[0]) == border::valid && (mask.rows > image.rows || mask.columns > image.columns))
    return "the mask is " + of_mask() + " and the image " + of_image() +
           "; with border valid the mask must fit into the image, with border zero it may be larger";
  std::string why = registry::invalid_matrix("the image", {image.rows, image.columns}, p.type);
  return why.empty() ? registry::invalid_matrix("the mask", {mask.rows, mask.columns}, p.type) : why;
}

constexpr std::array<registry::parameter, 2> arrays{
    {{"x", "hw", "the image", true}, {"mask", "rs", "the mask, both sides odd,"}}};
constexpr std::array<registry::option, 1> options{
    {{"border", "valid|zero", "valid: no output at the edges; zero: 0 around image"}}};
constexpr registry::signature called{
    .says = "an image convolved with a mask (cross-correlation)",
    .sizes = "hwrs",
    .inputs = arrays,
    .result = {"y", "", "where it goes; required; may be an input"},
    .options = options,
    .notes =
        "y[i,j] is the sum of mask[r,s] * x[i+r-h,j+s-w], with the mask centred on i, j;\n"
        "the mask is not flipped. The sum goes row by row of the mask, rounding each\n"
        "product and sum; the file is the same to the last byte on every device.\n"
        "\"-\" is standard input or output. It takes the memory of image and result.",
    .examples =
        "  tilewise convolve x.npy mask.npy -o y.npy\n"
        "  tilewise convolve x.npy mask.npy -o y.npy --border zero --device opencl:0",
    .shape_of_result = [](const problem& p) {
      const image_size result = sizes(p).result;
      return std::vector{result.rows, result.columns};
    }};

}  // namespace

const registry::algorithm& convolve_algorithm() {
  static const registry::algorithm& descriptor = base::lasting([] {
    return registry::algorithm{
        .name = "convolve",
        .summary = "convolution (cross-correlation) with an odd mask, its taps row by row",
        .types = float_types,
        .settings = settings,
        .numbers = {},
        .edge_shapes = edge_shapes,
        .quick_shapes = quick_shapes,
        .normal_shapes = normal_shapes,
        .inputs = inputs,
        .outputs = outputs,
        .operations = operations,
        .called = &called,
        .invalid = invalid,
        .describe = describe,
        .divides = &division,
    };
  });
  return descriptor;
}

}  // namespace tilewise::impl::convolve
