// SPDX-License-Identifier: Apache-2.0
// What:   diffusion as in the original program: boundaries, the mask, the step; never optimised.
// Order:  value = +0; the mask's rows in order, in each its columns in order: value = value + weight * element, product
//         and sum each rounded; taps of weight zero are left out. Then new = old + rate * value.
// Shape:  three loops over a field with ghosts on the calling thread.
// Limits: three fields of memory.
// Twins:  every other file of the folder.
#include "diffuse/problem.hpp"
#include "order/operators.hpp"

#include <vector>

namespace tilewise::impl::diffuse {

namespace {

/// Row-major elements; a mask or a field with its ghosts.
template <class T>
struct matrix {
  std::uint64_t rows, columns;
  std::vector<T> values;

  matrix(std::uint64_t rows_, std::uint64_t columns_) : rows(rows_), columns(columns_), values(rows * columns) {}
  T* operator[](std::uint64_t row) { return values.data() + row * columns; }
  const T* operator[](std::uint64_t row) const { return values.data() + row * columns; }
};

template <class T>
void set_boundaries(matrix<T>& c, std::uint64_t g, std::uint64_t half) {
  const std::uint64_t ny = c.rows, nx = c.columns;
  for (std::uint64_t j = 0; j < g + half; ++j)
    for (std::uint64_t i = 0; i <= g; ++i) c[j][i] = 1;
  for (std::uint64_t j = g + half; j < ny; ++j)
    for (std::uint64_t i = nx - 1 - g; i < nx; ++i) c[j][i] = 1;
  for (std::uint64_t o = 0; o < g; ++o)
    for (std::uint64_t j = 0; j < ny; ++j) {
      c[j][g - o - 1] = c[j][g - o];
      c[j][nx - g + o] = c[j][nx - 1 - g + o];
    }
  for (std::uint64_t o = 0; o < g; ++o)
    for (std::uint64_t i = 0; i < nx; ++i) {
      c[g - o - 1][i] = c[g - o][i];
      c[ny - g + o][i] = c[ny - 1 - g + o][i];
    }
}

template <class T>
void convolve(const matrix<T>& c, const matrix<T>& taps, matrix<T>& lap) {
  const std::uint64_t g = taps.rows / 2;
  for (std::uint64_t j = g; j < c.rows - g; ++j)
    for (std::uint64_t i = g; i < c.columns - g; ++i) {
      T value = 0;
      for (std::uint64_t mj = 0; mj < taps.rows; ++mj)
        for (std::uint64_t mi = 0; mi < taps.columns; ++mi)
          if (taps[mj][mi] != 0) value += taps[mj][mi] * c[j + mj - g][i + mi - g];
      lap[j][i] = value;
    }
}

template <class T>
void step(const matrix<T>& old, const matrix<T>& lap, T rate, std::uint64_t g, matrix<T>& next) {
  for (std::uint64_t j = g; j < old.rows - g; ++j)
    for (std::uint64_t i = g; i < old.columns - g; ++i) next[j][i] = old[j][i] + rate * lap[j][i];
}

template <class T>
void diffuse(const registry::problem& p, const T* field, T* result) {
  const sizes s(p);
  const std::uint64_t g = radius_of(mask_of(p));
  const weights<T> w = weights_in<T>(p);
  matrix<T> taps(2 * g + 1, 2 * g + 1);
  taps.values = square_of(mask_of(p), w);
  matrix<T> c(s.rows + 2 * g, s.columns + 2 * g), lap = c, next = c;
  for (std::uint64_t j = 0; j < s.rows; ++j) std::copy_n(field + j * s.columns, s.columns, c[j + g] + g);
  for (std::uint64_t done = 0; done < s.steps; ++done) {
    set_boundaries(c, g, s.half());
    convolve(c, taps, lap);
    step(c, lap, w.rate, g, next);
    std::swap(c, next);
  }
  for (std::uint64_t j = 0; j < s.rows; ++j)
    for (std::uint64_t i = 0; i < s.columns; ++i) result[j * s.columns + i] = order::canonical(c[j + g][i + g]);
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& queue) {
  if (copies_only(p, where, queue)) return;
  with_float(p.type, [&]<class T>(T) { diffuse<T>(p, where.in[0].as<const T>(), where.out[0].as<T>()); });
}

}  // namespace

std::vector<registry::variant> diffuse_serial_variants() {
  return {
      {.algorithm = "diffuse",
       .backend = "serial",
       .name = "",
       .types = float_types,
       .source =
           "T. Keller, D. Wheeler et al., HiPerC: High Performance Computing Strategies for Boundary Value Problems",
       .run = run}};
}

}  // namespace tilewise::impl::diffuse
