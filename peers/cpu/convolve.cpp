// SPDX-License-Identifier: Apache-2.0
// A plain loop over an image's rows, shared among OpenMP's threads: what a program without a library would do.
#include "backend/cpu/device.hpp"
#include "convolve/problem.hpp"
#include "peers/variants.hpp"

namespace tilewise::peers {

namespace {

using impl::convolve::sizes;

std::string unsupported(const registry::problem& p, const backend::device&, const registry::tuning&) {
  const bool is_valid = static_cast<border>(p.setting[0]) == border::valid;
  return is_valid ? "" : "as a peer it is measured only with the border valid";
}

template <class T>
void convolve_rows(const T* x, const T* mask, T* y, const sizes& s, int threads) {
#pragma omp parallel for num_threads(threads)
  for (std::uint64_t i = 0; i < s.result.rows; ++i)
    for (std::uint64_t j = 0; j < s.result.columns; ++j) {
      T value = 0;
      for (std::uint64_t r = 0; r < s.mask.rows; ++r)
        for (std::uint64_t t = 0; t < s.mask.columns; ++t)
          value += mask[r * s.mask.columns + t] * x[(i + r) * s.image.columns + j + t];
      y[i * s.result.columns + j] = value;
    }
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& queue) {
  const auto threads = static_cast<int>(static_cast<backend::cpu::queue&>(queue).threads());
  with_float(p.type, [&]<class T>(T) {
    convolve_rows(where.in[0].as<const T>(), where.in[1].as<const T>(), where.out[0].as<T>(), sizes(p), threads);
  });
}

}  // namespace

std::vector<registry::variant> convolve_variants() {
  registry::variant v = cpu_peer("convolve", "loop", "a plain loop with OpenMP", unsupported, run);
  v.types = float_types;
  v.bound = product_bound;
  return {v};
}

}  // namespace tilewise::peers
