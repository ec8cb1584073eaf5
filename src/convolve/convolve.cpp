// SPDX-License-Identifier: Apache-2.0
// The public functions of convolve: check what only their arguments show, describe the problem, call registry/call.
#include <tilewise/convolve.hpp>

#include "convolve/problem.hpp"
#include "registry/call.hpp"
#include "registry/matrix_shape.hpp"

namespace tilewise {

namespace {

using impl::convolve::sizes;

registry::problem describe(dtype type, image_size image, image_size mask, border at_edges) {
  registry::problem p{.what = &impl::convolve::convolve_algorithm(),
                      .type = type,
                      .shape = {image.rows, image.columns, mask.rows, mask.columns}};
  p.setting[0] = static_cast<std::uint8_t>(at_edges);
  registry::admit(p, {});
  return p;
}

void require_size(std::string_view name, image_size of, std::uint64_t given) {
  if (given != of.rows * of.columns)
    throw error(errc::invalid_argument, std::string(name) + " is " + registry::shape_text(of.rows, of.columns) + ", " +
                                            std::to_string(of.rows * of.columns) + " elements, but has " +
                                            std::to_string(given));
}

template <class Image, class Mask, class Result>
void require_sizes(const registry::problem& p, const Image& image, const Mask& mask, const Result& y) {
  const sizes s(p);
  require_size("the image", s.image, image.size());
  require_size("the mask", s.mask, mask.size());
  require_size("y", s.result, y.size());
}

}  // namespace

image_size convolved_size(image_size image, image_size mask, border at_edges) {
  return sizes(describe(dtype::f64, image, mask, at_edges)).result;
}

template <pixel T>
void convolve(std::span<const T> image, image_size of_image, std::span<const T> mask, image_size of_mask,
              std::span<T> y, const convolve_options& options) {
  const registry::problem p = describe(dtype_of<T>, of_image, of_mask, options.border);
  require_sizes(p, image, mask, y);
  registry::run_admitted(p, options, {{"the image", image}, {"the mask", mask}}, {{"y", y}});
}

template <pixel T>
void convolve(const array<T>& image, image_size of_image, const array<T>& mask, image_size of_mask, array<T>& y,
              const convolve_options& options) {
  const registry::problem p = describe(dtype_of<T>, of_image, of_mask, options.border);
  require_sizes(p, image, mask, y);
  registry::run_admitted(p, options, {{"the image", image}, {"the mask", mask}}, {{"y", y}});
}

#define TILEWISE_INSTANTIATE(T)                                                                           \
  template void convolve<T>(std::span<const T>, image_size, std::span<const T>, image_size, std::span<T>, \
                            const convolve_options&);                                                     \
  template void convolve<T>(const array<T>&, image_size, const array<T>&, image_size, array<T>&,          \
                            const convolve_options&);
TILEWISE_INSTANTIATE(float)
TILEWISE_INSTANTIATE(double)

}  // namespace tilewise
