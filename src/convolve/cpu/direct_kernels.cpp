// SPDX-License-Identifier: Apache-2.0
// What:   a block of a convolution with vectors; compiled once for each x86-64 level.
// Order:  a lane is one result's chain. It takes the rows of the image, and so those of the mask, in ascending order.
// Shape:  a few rows by a few vectors of results in registers. A vector of pixels is loaded once for all rows of
//         results that use it, and a weight once for all vectors.
// Limits: masks of 3 x 3 and 5 x 5 are unrolled; for others the columns are a loop.
// Twins:  serial.cpp.
#include "convolve/cpu/direct_kernels.hpp"

#include "backend/cpu/vector.hpp"

namespace tilewise::impl::convolve::TILEWISE_LEVEL {

namespace level = backend::cpu::TILEWISE_LEVEL;

namespace {

template <class T>
using vector = level::vector<T>;
template <class T>
constexpr unsigned width = level::lanes<T>;
constexpr unsigned most_vectors = level::vector_bytes == 64 ? 4 : 2;  // as many as registers allow

/// The chains of Rows x Vectors vectors of results. MaskColumns is 0 if the mask's number of columns is not known at
/// compile time. With Part there is one vector per row, and only its first `part` lanes are results.
template <class T, unsigned Rows, unsigned Vectors, unsigned MaskColumns, bool Part>
struct chains {
  const direct_step<T>& step;
  const T* x;  // the pixel under the first tap of the first result
  unsigned part;
  vector<T> chain[Rows][Vectors] = {};

  [[gnu::always_inline]] vector<T> pixels(const T* from) const {
    if constexpr (Part)
      return level::load_first(from, part);
    else
      return level::load(from);
  }

  /// Adds row p of the image, counted from x. For row q of the results it meets row p - q of the mask.
  template <unsigned First, unsigned End>
  [[gnu::always_inline]] void add_row(std::uint64_t p) {
    const T* const row = x + p * step.x_stride;
    const T* weight[Rows];
    const std::uint64_t columns = MaskColumns == 0 ? step.mask_columns : MaskColumns;
    for (unsigned q = First; q < End; ++q) weight[q] = step.mask + (p - q) * columns;
    for (std::uint64_t t = 0; t < columns; ++t) {
      vector<T> pixel[Vectors];
      for (unsigned v = 0; v < Vectors; ++v) pixel[v] = pixels(row + t + v * width<T>);
      for (unsigned q = First; q < End; ++q)
        for (unsigned v = 0; v < Vectors; ++v) chain[q][v] = chain[q][v] + level::broadcast(weight[q][t]) * pixel[v];
    }
  }

  /// The mask has at least as many rows as there are rows of results.
  [[gnu::always_inline]] void add_all() {
    const auto others = std::make_integer_sequence<unsigned, Rows - 1>();
    [&]<unsigned... P>(std::integer_sequence<unsigned, P...>) { (add_row<0, P + 1>(P), ...); }
    (others);
    for (std::uint64_t p = Rows - 1; p < step.mask_rows; ++p) add_row<0, Rows>(p);
    [&]<unsigned... P>(std::integer_sequence<unsigned, P...>) { (add_row<P + 1, Rows>(step.mask_rows + P), ...); }
    (others);
  }

  void write(T* y) const {
    for (unsigned q = 0; q < Rows; ++q)
      for (unsigned v = 0; v < Vectors; ++v) {
        const vector<T> result = level::canonical<T>(chain[q][v]);
        if constexpr (Part)
          level::store_first(y + q * step.y_stride, result, part);
        else
          level::store(y + q * step.y_stride + v * width<T>, result);
      }
  }
};

template <class T, unsigned Rows, unsigned Vectors, unsigned MaskColumns, bool Part = false>
[[gnu::always_inline]] inline void convolve_block(const direct_step<T>& s, std::uint64_t i, std::uint64_t j) {
  chains<T, Rows, Vectors, MaskColumns, Part> block{s, s.x + i * s.x_stride + j, static_cast<unsigned>(s.columns - j)};
  block.add_all();
  block.write(s.y + i * s.y_stride + j);
}

/// Computes rows [i, i + Rows) of the results.
template <class T, unsigned Rows, unsigned MaskColumns>
void convolve_rows(const direct_step<T>& s, std::uint64_t i) {
  std::uint64_t j = 0;
  for (; j + most_vectors * width<T> <= s.columns; j += most_vectors * width<T>)
    convolve_block<T, Rows, most_vectors, MaskColumns>(s, i, j);
  for (; j + width<T> <= s.columns; j += width<T>) convolve_block<T, Rows, 1, MaskColumns>(s, i, j);
  if (j != s.columns) convolve_block<T, Rows, 1, MaskColumns, true>(s, i, j);
}

template <class T, unsigned Rows, unsigned MaskColumns>
void convolve_all(const direct_step<T>& s) {
  std::uint64_t i = 0;
  for (; i + Rows <= s.rows; i += Rows) convolve_rows<T, Rows, MaskColumns>(s, i);
  for (; i < s.rows; ++i) convolve_rows<T, 1, MaskColumns>(s, i);
}

template <class T>
void convolve(const direct_step<T>& s) {
  if (s.mask_rows == 1) return convolve_all<T, 1, 0>(s);
  if (s.mask_rows == 3) return s.mask_columns == 3 ? convolve_all<T, 3, 3>(s) : convolve_all<T, 3, 0>(s);
  return s.mask_rows == 5 && s.mask_columns == 5 ? convolve_all<T, 4, 5>(s) : convolve_all<T, 4, 0>(s);
}

template <class T>
constexpr direct_kernels<T> kernels_of{convolve<T>};

}  // namespace

template <class T>
const direct_kernels<T>& direct() {
  return kernels_of<T>;
}

template const direct_kernels<float>& direct<float>();
template const direct_kernels<double>& direct<double>();

}  // namespace tilewise::impl::convolve::TILEWISE_LEVEL
