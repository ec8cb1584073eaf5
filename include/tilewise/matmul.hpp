// SPDX-License-Identifier: Apache-2.0
// Matrix product: every element is one chain of fused multiply-adds, the same on every processor.
#pragma once

#include <tilewise/call.hpp>

namespace tilewise {

/// Where and how `matmul` computes.
struct matmul_options {
  std::optional<tilewise::device> device = {};  ///< for host data (default: the CPU); arrays use their own device
  std::string_view variant = {};                ///< force one, such as "register_tiles"; default: chosen
  std::string_view tuning = {};                 ///< never changes a bit
  bool fast = false;                            ///< also allow variants with different results, such as "tf32"
};

namespace detail {

inline void matmul(const argument& a, const argument& b, const argument& c, const matmul_options& options) {
  const argument in[]{a, b};
  call({.algorithm = "matmul", .in = in, .out = {&c, 1}, .fast = options.fast}, options);
}

}  // namespace detail

/// C = A B, row-major: A is M x K, B is K x N, C is M x N. Each element of C: c = 0; for ascending k: c = fma(A[i,k],
/// B[k,j], c). Integers wrap; a NaN result is the canonical NaN. If K is 0, C is all zeros. C must not overlap A or B.
/// Asynchronous on a device. Throws `invalid_argument`, with the shapes, before it writes anything.
template <plain_operand A, beside<A> B, output_beside<A> C>
void matmul(const A& a, matrix_layout of_a, const B& b, matrix_layout of_b, C&& c, matrix_layout of_c,
            const matmul_options& options = {}) {
  detail::matmul(detail::argument_for("A", a, of_a), detail::argument_for("B", b, of_b),
                 detail::argument_for("C", c, of_c), options);
}
/// Returns C, without gaps between its rows.
template <plain_operand A, beside<A> B>
auto matmul(const A& a, matrix_layout of_a, const B& b, matrix_layout of_b, const matmul_options& options = {}) {
  const matrix_layout of_c(of_a.rows, of_b.columns);
  auto c = detail::result_beside<element_of<A>>(a, packed_elements(of_c));
  tilewise::matmul(a, of_a, b, of_b, c, of_c, options);
  return c;
}

TILEWISE_REFUSE_OTHERS(matmul)

}  // namespace tilewise
