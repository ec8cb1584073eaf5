// SPDX-License-Identifier: Apache-2.0
// What:   convolution by OpenACC, as in HiPerC: a loop over rows and a loop over columns, collapsed.
// Order:  each lane's own chain over the mask's taps, product and sum each rounded.
// Shape:  a lane computes one element.
// Limits: 2^31 elements; the mask is read from the device's memory.
// Twins:  serial.cpp, diffuse/openacc.cpp.
#include "backend/openacc/queue.hpp"
#include "convolve/problem.hpp"
#include "order/operators.hpp"
#include "registry/variant.hpp"

namespace tilewise::impl::convolve {

namespace {

template <class T>
void convolve(const T* x, const T* mask, T* y, const sizes& s) {
  // Scalars are passed with the launch. A struct would be copied to the device before each launch.
  const auto rows = static_cast<std::int64_t>(s.result.rows), columns = static_cast<std::int64_t>(s.result.columns),
             image_rows = static_cast<std::int64_t>(s.image.rows),
             image_columns = static_cast<std::int64_t>(s.image.columns),
             mask_rows = static_cast<std::int64_t>(s.mask.rows),
             mask_columns = static_cast<std::int64_t>(s.mask.columns), above = static_cast<std::int64_t>(s.above),
             left = static_cast<std::int64_t>(s.left);
#pragma acc parallel loop gang vector collapse(2) deviceptr(x, mask, y)
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      T v = 0;
#pragma acc loop seq
      for (std::int64_t r = 0; r < mask_rows; ++r)
#pragma acc loop seq
        for (std::int64_t t = 0; t < mask_columns; ++t) {
          const std::int64_t row = i + r - above, column = j + t - left;
          const bool inside = row >= 0 && row < image_rows && column >= 0 && column < image_columns;
          v = v +
              backend::openacc::product(mask[r * mask_columns + t], inside ? x[row * image_columns + column] : T(0));
        }
      y[i * columns + j] = order::canonical(v);
    }
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& on) {
  backend::openacc::enter(on);
  const sizes s(p);
  if (s.result.rows == 0 || s.result.columns == 0) return;
  with_float(p.type, [&]<class T>(T) {
    backend::during("a convolution of OpenACC's",
                    [&] { convolve(where.in[0].as<const T>(), where.in[1].as<const T>(), where.out[0].as<T>(), s); });
  });
}

std::string unsupported(const registry::problem& p, const backend::device&, const registry::tuning&) {
  constexpr std::uint64_t most_elements = std::uint64_t{1} << 31;
  const sizes s(p);
  const bool is_counted = s.result.columns == 0 || s.result.rows < most_elements / s.result.columns;
  return is_counted ? "" : "it has more elements than OpenACC's lanes are counted with";
}

}  // namespace

std::vector<registry::variant> convolve_openacc_variants() {
  return {{.algorithm = "convolve",
           .backend = "openacc",
           .name = "",
           .types = float_types,
           .source = "HiPerC's convolution with OpenACC: T. Keller, D. Wheeler et al.",
           .unsupported = unsupported,
           .run = run}};
}

}  // namespace tilewise::impl::convolve
