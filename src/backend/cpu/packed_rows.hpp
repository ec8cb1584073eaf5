// SPDX-License-Identifier: Apache-2.0
// W short rows at once, where W is the number of lanes: rows of N elements with nothing between them are N whole
// vectors of memory, whose lanes are dealt out to N vectors of columns, and back. Only for an algorithm's
// cpu/*kernels.cpp.
#pragma once

#include "backend/cpu/vector.hpp"

namespace tilewise::backend::cpu::TILEWISE_LEVEL {

inline constexpr int most_packed = 7;

/// Where vector K of W rows of N elements, which follow each other, has column C of row `lane`; as operand of a shuffle
/// whose other operand keeps what earlier vectors had.
template <class T, int N, int C, int K>
constexpr int from_packed(int lane) {
  constexpr int width = static_cast<int>(lanes<T>);
  const int at = lane * N + C;
  if (at / width == K) return width + at % width;
  return K == 1 && at / width == 0 ? at : lane;
}

/// Column C of the rows in N vectors; `before` is the first of them.
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

/// The way back: where column C has lane `lane` of vector K, as operand of a shuffle whose other operand keeps what
/// earlier columns had.
template <class T, int N, int K, int C>
constexpr int to_packed(int lane) {
  constexpr int width = static_cast<int>(lanes<T>);
  const int at = K * width + lane;
  if (at % N == C) return width + at / N;
  return C == 1 ? at / N : lane;
}

/// Vector K of the rows whose N columns these are; `before` is the first of them.
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
