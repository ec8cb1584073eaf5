// SPDX-License-Identifier: Apache-2.0
// Matrix product: every element is one chain of fused multiply-adds, the same on every processor.
#pragma once

#include <tilewise/array.hpp>
#include <tilewise/error.hpp>
#include <tilewise/export.hpp>
#include <tilewise/matrix.hpp>

#include <optional>

namespace tilewise {

/// Where and how `matmul` computes.
struct matmul_options {
  std::optional<tilewise::device> device = {};  ///< for host data (default: the CPU); arrays use their own device
  std::string_view variant = {};                ///< force one, such as "register_tiles"; default: chosen
  std::string_view tuning = {};                 ///< never changes a bit
  bool fast = false;                            ///< also allow variants with different results, such as "tf32"
};

/// C = A B, row-major: A is M x K, B is K x N, C is M x N. Each element of C: c = 0; for ascending k: c = fma(A[i,k],
/// B[k,j], c). Integers wrap; a NaN result is the canonical NaN. If K is 0, C is all zeros. C must not overlap A or B.
/// Throws `invalid_argument`, with the shapes, before it writes anything.
template <scalar T>
TILEWISE_API void matmul(std::span<const T> a, matrix_layout a_layout, std::span<const T> b, matrix_layout b_layout,
                         std::span<T> c, matrix_layout c_layout, const matmul_options& options = {});

/// The same on a device, asynchronous in its queue.
template <scalar T>
TILEWISE_API void matmul(const array<T>& a, matrix_layout a_layout, const array<T>& b, matrix_layout b_layout,
                         array<T>& c, matrix_layout c_layout, const matmul_options& options = {});

template <host_range A, host_range<element_of<A>> B, host_output<element_of<A>> C>
void matmul(const A& a, matrix_layout a_layout, const B& b, matrix_layout b_layout, C&& c, matrix_layout c_layout,
            const matmul_options& options = {}) {
  tilewise::matmul(as_input(a), a_layout, as_input(b), b_layout, as_output(c), c_layout, options);
}
/// Returns C, without gaps between its rows.
template <host_range A, host_range<element_of<A>> B>
std::vector<element_of<A>> matmul(const A& a, matrix_layout a_layout, const B& b, matrix_layout b_layout,
                                  const matmul_options& options = {}) {
  const matrix_layout c_layout(a_layout.rows, b_layout.columns);
  auto c = host_result<element_of<A>>(packed_elements(c_layout));
  tilewise::matmul(as_input(a), a_layout, as_input(b), b_layout, as_output(c), c_layout, options);
  return c;
}
template <scalar T>
array<T> matmul(const array<T>& a, matrix_layout a_layout, const array<T>& b, matrix_layout b_layout,
                const matmul_options& options = {}) {
  const matrix_layout c_layout(a_layout.rows, b_layout.columns);
  array<T> c = a.device().template allocate<T>(packed_elements(c_layout));
  tilewise::matmul(a, a_layout, b, b_layout, c, c_layout, options);
  return c;
}

}  // namespace tilewise
