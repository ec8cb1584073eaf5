// SPDX-License-Identifier: Apache-2.0
// What:   the register tile of the packed product, and the packing; compiled once for each x86-64 level.
// Order:  a lane is one element of C; its chain continues from the stored C and takes the products in ascending order.
// Shape:  per step of k: two vectors of B; per row, one broadcast element of A and two fused multiply-adds.
// Limits: reads and writes nothing outside its operands: lanes beyond an edge are masked, and rows beyond an edge
//         repeat the last row.
// Twins:  serial.cpp, documents/cpu_blocked_kernels.cpp.
#include "matmul/cpu/packed_kernels.hpp"

#include "backend/cpu/vector.hpp"

namespace tilewise::impl::matmul::TILEWISE_LEVEL {

namespace level = backend::cpu::TILEWISE_LEVEL;

namespace {

template <class T>
using vector = level::vector<T>;

/// The rows of a tile that is two vectors wide. The sums, two vectors of B and one broadcast element fill the
/// registers: 27 of 32 with AVX-512, and 15 of 16 below it. There a product of integers takes several instructions and
/// registers of its own.
template <class T>
constexpr unsigned tile_rows = level::vector_bytes == 64     ? 12
                               : std::is_floating_point_v<T> ? 6
                                                             : 4;
constexpr unsigned tile_vectors = 2;
constexpr unsigned line_bytes = 64;
template <class T>
constexpr unsigned tile_columns = tile_vectors* level::lanes<T>;

template <class T>
[[gnu::always_inline]] inline void store_sum(T* to, vector<T> sum, bool last, unsigned lanes) {
  if (last) sum = level::canonical<T>(sum);
  if (lanes == level::lanes<T>)
    level::store(to, sum);
  else
    level::store_first(to, sum, lanes);
}

/// The cache lines of the next panel of B. Each step of k prefetches one of them into the second-level cache; without
/// that, n = 2048 took 12 % longer in f64.
struct lines_ahead {
  const char* from;
  std::uint64_t apart;
};

/// A whole tile, with A packed or in place.
template <class T, bool Packed>
void multiply_tile(const T* a, const T* b, T* c, const packed_step<T>& step, const lines_ahead& ahead) {
  constexpr unsigned height = tile_rows<T>, width = level::lanes<T>;
  const T* of_row[height];
#pragma GCC unroll 16
  for (unsigned r = 0; r < height; ++r) of_row[r] = a + r * step.a_row;
  vector<T> sum[height][tile_vectors];
#pragma GCC unroll 16
  for (unsigned r = 0; r < height; ++r)
#pragma GCC unroll 2
    for (unsigned v = 0; v < tile_vectors; ++v) {
      T* const from = c + r * step.c_row + v * width;
      sum[r][v] = step.first ? vector<T>{} : level::load(from);
      __builtin_prefetch(from + height * step.c_row, 1);  // the next tile's
    }

  const char* line = ahead.from;
#pragma GCC unroll 2  // 5 % faster than 1 with AVX-512
  for (std::uint64_t k = 0; k < step.depth; ++k, a += height, b += step.b_row, line += ahead.apart) {
    __builtin_prefetch(line, 0, 2);
    vector<T> of_b[tile_vectors];
#pragma GCC unroll 2
    for (unsigned v = 0; v < tile_vectors; ++v) of_b[v] = level::load(b + v * width);
#pragma GCC unroll 16
    for (unsigned r = 0; r < height; ++r) {
      const vector<T> of_a = level::broadcast(Packed ? a[r] : of_row[r][k]);
#pragma GCC unroll 2
      for (unsigned v = 0; v < tile_vectors; ++v) sum[r][v] = level::multiply_add<T>(of_a, of_b[v], sum[r][v]);
    }
  }

#pragma GCC unroll 16
  for (unsigned r = 0; r < height; ++r)
#pragma GCC unroll 2
    for (unsigned v = 0; v < tile_vectors; ++v) store_sum(c + r * step.c_row + v * width, sum[r][v], step.last, width);
}

/// A tile of up to Rows rows and Vectors vectors, packed or not.
template <class T, unsigned Rows, unsigned Vectors>
void multiply_part(const T* a, const T* b, T* c, const packed_step<T>& step, std::uint64_t rows,
                   std::uint64_t columns) {
  constexpr unsigned width = level::lanes<T>;
  const T* of_row[Rows];
  unsigned lanes[Vectors];
  for (unsigned v = 0; v < Vectors; ++v)
    lanes[v] = static_cast<unsigned>(columns < v * width ? 0 : columns < (v + 1) * width ? columns - v * width : width);
  vector<T> sum[Rows][Vectors];
#pragma GCC unroll 16
  for (unsigned r = 0; r < Rows; ++r) {
    of_row[r] = a + (r < rows ? r : rows - 1) * step.a_row;
#pragma GCC unroll 2
    for (unsigned v = 0; v < Vectors; ++v)
      sum[r][v] = step.first || r >= rows ? vector<T>{} : level::load_first(c + r * step.c_row + v * width, lanes[v]);
  }

  for (std::uint64_t k = 0; k < step.depth; ++k, b += step.b_row) {
    vector<T> of_b[Vectors];
#pragma GCC unroll 2
    for (unsigned v = 0; v < Vectors; ++v) of_b[v] = level::load_first(b + v * width, lanes[v]);
#pragma GCC unroll 16
    for (unsigned r = 0; r < Rows; ++r) {
      const vector<T> of_a = level::broadcast(of_row[r][k * step.a_column]);
#pragma GCC unroll 2
      for (unsigned v = 0; v < Vectors; ++v) sum[r][v] = level::multiply_add<T>(of_a, of_b[v], sum[r][v]);
    }
  }

#pragma GCC unroll 16
  for (unsigned r = 0; r < Rows; ++r)
#pragma GCC unroll 2
    for (unsigned v = 0; v < Vectors; ++v)
      if (r < rows) store_sum(c + r * step.c_row + v * width, sum[r][v], step.last, lanes[v]);
}

/// Computes the smallest tile that holds so many rows and vectors.
template <class T>
void multiply_edge(const T* a, const T* b, T* c, const packed_step<T>& step, std::uint64_t rows,
                   std::uint64_t columns) {
  constexpr unsigned few = 4;
  if (columns > level::lanes<T>)
    return rows > few ? multiply_part<T, tile_rows<T>, 2>(a, b, c, step, rows, columns)
                      : multiply_part<T, few, 2>(a, b, c, step, rows, columns);
  return rows > few ? multiply_part<T, tile_rows<T>, 1>(a, b, c, step, rows, columns)
                    : multiply_part<T, few, 1>(a, b, c, step, rows, columns);
}

/// A panel of B stays in the first-level cache while it meets all panels of A. Each of these prefetches part of the
/// next panel of B.
template <class T>
void multiply(const packed_step<T>& step) {
  constexpr unsigned height = tile_rows<T>, width = tile_columns<T>;
  const bool packed = step.a_row == 1 && step.a_column == height, in_panels = step.b_row == width;
  const std::uint64_t panel_bytes = width * step.depth * sizeof(T);
  const T* b = step.b;
  for (std::uint64_t j = 0; j < step.columns; j += width, b += step.b_panel) {
    const T* a = step.a;
    const char* const next_panel = reinterpret_cast<const char*>(b + step.b_panel);
    const std::uint64_t columns = step.columns - j;
    for (std::uint64_t i = 0; i < step.rows; i += height, a += step.a_panel) {
      const std::uint64_t rows = step.rows - i;
      T* const c = step.c + i * step.c_row + j;
      if (packed && rows >= height && columns >= width)
        multiply_tile<T, true>(
            a, b, c, step,
            in_panels ? lines_ahead{next_panel + i / height * step.depth * line_bytes % panel_bytes, line_bytes}
                      : lines_ahead{next_panel, step.b_row * sizeof(T)});
      else if (level::vector_bytes < 64 && step.a_column == 1 && rows >= height && columns >= width)
        multiply_tile<T, false>(a, b, c, step, {reinterpret_cast<const char*>(a + step.a_panel), line_bytes});
      else
        multiply_edge<T>(a, b, c, step, rows, columns);
    }
  }
}

/// Transposes a square with 16 bytes a side. For f32 this takes half the time of copying single elements.
template <class T>
void transpose_square(const T* from, std::uint64_t from_row, T* to, std::uint64_t to_row) {
  constexpr unsigned side = 16 / sizeof(T);
  typedef T piece __attribute__((vector_size(16)));
  piece row[side], column[side];
  for (unsigned r = 0; r < side; ++r) __builtin_memcpy(&row[r], from + r * from_row, 16);
  if constexpr (side == 2) {
    column[0] = __builtin_shufflevector(row[0], row[1], 0, 2);
    column[1] = __builtin_shufflevector(row[0], row[1], 1, 3);
  } else {
    const piece top0 = __builtin_shufflevector(row[0], row[1], 0, 4, 1, 5);
    const piece top1 = __builtin_shufflevector(row[0], row[1], 2, 6, 3, 7);
    const piece bottom0 = __builtin_shufflevector(row[2], row[3], 0, 4, 1, 5);
    const piece bottom1 = __builtin_shufflevector(row[2], row[3], 2, 6, 3, 7);
    column[0] = __builtin_shufflevector(top0, bottom0, 0, 1, 4, 5);
    column[1] = __builtin_shufflevector(top0, bottom0, 2, 3, 6, 7);
    column[2] = __builtin_shufflevector(top1, bottom1, 0, 1, 4, 5);
    column[3] = __builtin_shufflevector(top1, bottom1, 2, 3, 6, 7);
  }
  for (unsigned k = 0; k < side; ++k) __builtin_memcpy(to + k * to_row, &column[k], 16);
}

template <class T>
void pack_a(const T* a, std::uint64_t stride, std::uint64_t rows, std::uint64_t depth, T* panel) {
  constexpr unsigned height = tile_rows<T>, side = 16 / sizeof(T), in_squares = height / side * side;
  std::uint64_t k = 0;
  if (rows == height)
    for (; k + side <= depth; k += side) {
      for (unsigned r = 0; r < in_squares; r += side)
        transpose_square(a + r * stride + k, stride, panel + k * height + r, height);
      for (unsigned r = in_squares; r < height; ++r)
        for (unsigned i = 0; i < side; ++i) panel[(k + i) * height + r] = a[r * stride + k + i];
    }
  for (; k < depth; ++k)
    for (std::uint64_t r = 0; r < rows; ++r) panel[k * height + r] = a[r * stride + k];
}

template <class T>
void pack_b(const T* b, std::uint64_t stride, std::uint64_t columns, std::uint64_t depth, T* panel) {
  constexpr unsigned width = tile_columns<T>;
  for (std::uint64_t k = 0; k < depth; ++k, b += stride, panel += width)
    if (columns == width)  // a copy of known size is two moves
      __builtin_memcpy(panel, b, width * sizeof(T));
    else
      __builtin_memcpy(panel, b, columns * sizeof(T));
}

template <class T>
constexpr packed_kernels<T> kernels_of{tile_rows<T>, tile_columns<T>, level::vector_bytes < 64,
                                       pack_a<T>,    pack_b<T>,       multiply<T>};

}  // namespace

template <class T>
const packed_kernels<T>& packed() {
  return kernels_of<T>;
}

template const packed_kernels<float>& packed<float>();
template const packed_kernels<double>& packed<double>();
template const packed_kernels<std::uint32_t>& packed<std::uint32_t>();
template const packed_kernels<std::uint64_t>& packed<std::uint64_t>();

}  // namespace tilewise::impl::matmul::TILEWISE_LEVEL
