// SPDX-License-Identifier: Apache-2.0
// W short rows at once, where W is the number of lanes. W rows of N elements without gaps are N whole vectors in
// memory. Shuffles turn these into N vectors of columns, and back. Only for an algorithm's cpu/*kernels.cpp.
#pragma once

#include "backend/cpu/vector.hpp"

namespace tilewise::backend::cpu::TILEWISE_LEVEL {

inline constexpr int most_packed = 7;

/// A shuffle index: where vector K of W contiguous rows of N elements has column C of row `lane`. If another vector has
/// it, the index keeps the lane of the first operand, the result so far.
template <class T, int N, int C, int K>
constexpr int from_packed(int lane) {
  constexpr int width = static_cast<int>(lanes<T>);
  const int at = lane * N + C;
  if (at / width == K) return width + at % width;
  return K == 1 && at / width == 0 ? at : lane;
}

/// Column C of the rows in the N vectors `in`; `before` is the result so far, at first in[0].
template <class T, int N, int C, int K = 1>
[[gnu::always_inline]] inline vector<T> packed_column(const vector<T>* in, vector<T> before) {
  if constexpr (K >= N) {
    return before;
  } else {
    const vector<T> more = with_lanes<T>([&]<int... I>(std::integer_sequence<int, I...>) {
      return __builtin_shufflevector(before, in[K], from_packed<T, N, C, K>(I)...);
    });
    return packed_column<T, N, C, K + 1>(in, more);
  }
}

/// The inverse: a shuffle index, where column C has lane `lane` of vector K. If another column has it, the index keeps
/// the lane of the first operand, the result so far.
template <class T, int N, int K, int C>
constexpr int to_packed(int lane) {
  constexpr int width = static_cast<int>(lanes<T>);
  const int at = K * width + lane;
  if (at % N == C) return width + at / N;
  return C == 1 ? at / N : lane;
}

/// Vector K of the rows with these N columns; `before` is the result so far, at first columns[0].
template <class T, int N, int K, int C = 1>
[[gnu::always_inline]] inline vector<T> packed_vector(const vector<T>* columns, vector<T> before) {
  if constexpr (C >= N) {
    return before;
  } else {
    const vector<T> more = with_lanes<T>([&]<int... I>(std::integer_sequence<int, I...>) {
      return __builtin_shufflevector(before, columns[C], to_packed<T, N, K, C>(I)...);
    });
    return packed_vector<T, N, K, C + 1>(columns, more);
  }
}

}  // namespace tilewise::backend::cpu::TILEWISE_LEVEL
