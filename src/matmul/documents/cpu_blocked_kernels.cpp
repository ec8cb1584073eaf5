// SPDX-License-Identifier: Apache-2.0
// What:   one block of the blocked product, in plain loops that the compiler turns into vectors; compiled once for each
//         x86-64 level.
// Order:  a row of C takes the products of `depth` rows of B in ascending order.
// Shape:  four rows of B per pass, so that a row of C is read and written once for four steps of its chains.
// Limits: without FMA instructions every step is a call to fma(): correct, but slow.
// Twins:  serial.cpp, cpu/packed_kernels.cpp.
#include "matmul/documents/cpu_blocked_kernels.hpp"

#include "order/operators.hpp"

namespace tilewise::impl::matmul::TILEWISE_LEVEL {

namespace {

template <class T>
[[gnu::always_inline]] inline T multiply_add(T a, T b, T c) {
  if constexpr (std::is_same_v<T, float>)
    return __builtin_fmaf(a, b, c);
  else if constexpr (std::is_same_v<T, double>)
    return __builtin_fma(a, b, c);
  else
    return a * b + c;
}

template <class T>
void add_row(T a, const T* __restrict b, T* __restrict c, std::uint64_t columns) {
  for (std::uint64_t j = 0; j < columns; ++j) c[j] = multiply_add(a, b[j], c[j]);
}

template <class T>
void add_four_rows(const T* a, const T* __restrict b, std::uint64_t stride, T* __restrict c, std::uint64_t columns) {
  const T a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3];
  const T* __restrict b1 = b + stride, * __restrict b2 = b + 2 * stride, * __restrict b3 = b + 3 * stride;
  for (std::uint64_t j = 0; j < columns; ++j)
    c[j] = multiply_add(a3, b3[j], multiply_add(a2, b2[j], multiply_add(a1, b1[j], multiply_add(a0, b[j], c[j]))));
}

template <class T>
void multiply(const blocked_step<T>& step) {
  for (std::uint64_t i = 0; i < step.rows; ++i) {
    const T* const a = step.a + i * step.a_stride;
    T* const c = step.c + i * step.c_stride;
    std::uint64_t k = 0;
    for (; k + 4 <= step.depth; k += 4)
      add_four_rows(a + k, step.b + k * step.b_stride, step.b_stride, c, step.columns);
    for (; k < step.depth; ++k) add_row(a[k], step.b + k * step.b_stride, c, step.columns);
  }
}

template <class T>
void finish(T* c, std::uint64_t count) {
  if constexpr (std::is_floating_point_v<T>) {
    constexpr T nan = order::canonical(std::numeric_limits<T>::quiet_NaN());
    for (std::uint64_t j = 0; j < count; ++j) c[j] = c[j] == c[j] ? c[j] : nan;
  }
}

template <class T>
constexpr blocked_kernels<T> kernels_of{multiply<T>, finish<T>};

}  // namespace

template <class T>
const blocked_kernels<T>& blocked() {
  return kernels_of<T>;
}

template const blocked_kernels<float>& blocked<float>();
template const blocked_kernels<double>& blocked<double>();
template const blocked_kernels<std::uint32_t>& blocked<std::uint32_t>();
template const blocked_kernels<std::uint64_t>& blocked<std::uint64_t>();

}  // namespace tilewise::impl::matmul::TILEWISE_LEVEL
