// SPDX-License-Identifier: Apache-2.0
// How a call of convolve is described, and the size of its result.
#include <tilewise/convolve.hpp>

#include "base/enter.hpp"
#include "call/call.hpp"
#include "convolve/problem.hpp"

namespace tilewise {

namespace impl::convolve {

namespace {

registry::problem admitted(dtype type, image_size image, image_size mask, border at_edges) {
  registry::problem p{
      .what = &convolve_algorithm(), .type = type, .shape = {image.rows, image.columns, mask.rows, mask.columns}};
  p.setting[0] = static_cast<std::uint8_t>(at_edges);
  call::admit(p, {});
  return p;
}

void require_size(const detail::argument& given, image_size of) {
  if (given.size != of.rows * of.columns)
    throw error(errc::invalid_argument, std::string(given.name) + " is " + registry::shape_text(of.rows, of.columns) +
                                            ", " + std::to_string(of.rows * of.columns) + " elements, but has " +
                                            std::to_string(given.size));
}

}  // namespace

registry::problem describe(const detail::request& r) {
  const auto size_of = [](const detail::argument& a) { return image_size{a.of.rows, a.of.columns}; };
  const registry::problem p =
      admitted(r.in[0].type, size_of(r.in[0]), size_of(r.in[1]), static_cast<border>(r.settings[0].value));
  const sizes s(p);
  require_size(r.in[0], s.image), require_size(r.in[1], s.mask), require_size(r.out[0], s.result);
  return p;
}

}  // namespace impl::convolve

image_size convolved_size(image_size image, image_size mask, border at_edges) {
  return base::enter(
      [&] { return impl::convolve::sizes(impl::convolve::admitted(dtype::f64, image, mask, at_edges)).result; });
}

}  // namespace tilewise
