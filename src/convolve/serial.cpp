// SPDX-License-Identifier: Apache-2.0
// What:   convolution by its definition; never optimised.
// Order:  v = +0; rows of the mask ascending, in each its columns ascending: v = v + mask * x, two roundings per tap.
// Shape:  four loops on the calling thread; outside the image x is +0.
// Limits: none.
// Twins:  every other file of the folder.
#include "backend/cpu/device.hpp"
#include "convolve/problem.hpp"
#include "order/operators.hpp"
#include "registry/variant.hpp"

namespace tilewise::impl::convolve {

namespace {

template <class T>
T sum_of_taps(const T* x, const T* mask, const sizes& s, std::uint64_t i, std::uint64_t j) {
  T v = 0;
  for (std::uint64_t r = 0; r < s.mask.rows; ++r)
    for (std::uint64_t t = 0; t < s.mask.columns; ++t) {
      const std::uint64_t row = i + r - s.above, column = j + t - s.left;  // wraps far beyond the image where negative
      const bool inside = row < s.image.rows && column < s.image.columns;
      v = v + mask[r * s.mask.columns + t] * (inside ? x[row * s.image.columns + column] : T(0));
    }
  return v;
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue&) {
  const sizes s(p);
  with_float(p.type, [&]<class T>(T) {
    const T *x = where.in[0].as<const T>(), *mask = where.in[1].as<const T>();
    T* const y = where.out[0].as<T>();
    for (std::uint64_t i = 0; i < s.result.rows; ++i)
      for (std::uint64_t j = 0; j < s.result.columns; ++j)
        y[i * s.result.columns + j] = order::canonical(sum_of_taps(x, mask, s, i, j));
  });
}

}  // namespace

std::vector<registry::variant> convolve_serial_variants() {
  return {{.algorithm = "convolve",
           .backend = "serial",
           .name = "",
           .types = float_types,
           .source = "the definition: Gonzalez and Woods, Digital Image Processing, 4th edition, 3.4",
           .run = run}};
}

}  // namespace tilewise::impl::convolve
