// SPDX-License-Identifier: Apache-2.0
// Vectors of the instruction set that a kernel file is compiled for, and the order's operators on them.
// Only for an algorithm's cpu/*kernels.cpp, which are compiled once per level. A linker keeps only one copy of an
// inline function. So everything here is in a namespace named after the level; otherwise a v2 machine might run v4
// code. For the same reason, kernels call functions of src/order or std only in constant expressions.
#pragma once

#include "order/operators.hpp"

#include <immintrin.h>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace tilewise::backend::cpu::TILEWISE_LEVEL {

#if defined(__AVX512F__)
inline constexpr unsigned vector_bytes = 64;
#elif defined(__AVX2__)
inline constexpr unsigned vector_bytes = 32;
#else
inline constexpr unsigned vector_bytes = 16;
#endif

template <class T>
inline constexpr unsigned lanes = vector_bytes / sizeof(T);

template <class T>
struct vector_of {
  typedef T type __attribute__((vector_size(vector_bytes)));
};
template <class T>
using vector = typename vector_of<T>::type;

/// The signed and the unsigned integer of T's size: lane masks and raw bits.
template <class T>
using mask_lane = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
template <class T>
using bits_lane = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T>
vector<T> load(const T* from) {
  vector<T> v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}

/// Keeps the compiler from reordering the load of this vector, so that memory is read in ascending order, which
/// processors prefetch. gcc otherwise loads the last of eight vectors first, which slowed a Zen 4 from 29 to 19 GB/s.
template <class T>
vector<T> in_turn(vector<T> v) {
#if defined(__AVX512F__)
  asm volatile("" : "+v"(v));
#else
  asm volatile("" : "+x"(v));
#endif
  return v;
}

template <class T>
void store(T* to, vector<T> v) {
  __builtin_memcpy(to, &v, sizeof v);
}

/// Calls f(integer_sequence of 0 ... lanes - 1), since shuffles need constant indices.
template <class T, class F>
vector<T> with_lanes(F f) {
  return f(std::make_integer_sequence<int, static_cast<int>(lanes<T>)>());
}

template <class T>
vector<T> broadcast(T value) {
  return with_lanes<T>([&]<int... I>(std::integer_sequence<int, I...>) {
    return vector<T>{(static_cast<void>(I), value)...};
  });
}

template <class T>
vector<mask_lane<T>> lane_numbers() {
  return with_lanes<mask_lane<T>>(
      []<int... I>(std::integer_sequence<int, I...>) { return vector<mask_lane<T>>{I...}; });
}

/// Loads the first `count` < lanes elements. The other lanes are 0; memory past the end is not read.
template <class T>
vector<T> load_first(const T* from, unsigned count) {
#if defined(__AVX512F__)
  const unsigned mask = (1u << count) - 1;
  if constexpr (sizeof(T) == 4) return (vector<T>)_mm512_maskz_loadu_epi32(static_cast<__mmask16>(mask), from);
  if constexpr (sizeof(T) == 8) return (vector<T>)_mm512_maskz_loadu_epi64(static_cast<__mmask8>(mask), from);
#elif defined(__AVX2__)
  const __m256i mask = (__m256i)(lane_numbers<T>() < static_cast<mask_lane<T>>(count));
  if constexpr (sizeof(T) == 4) return (vector<T>)_mm256_maskload_epi32((const int*)from, mask);
  if constexpr (sizeof(T) == 8) return (vector<T>)_mm256_maskload_epi64((const long long*)from, mask);
#else
  T values[lanes<T>] = {};
  for (unsigned i = 0; i < count; ++i) values[i] = from[i];
  return load(values);
#endif
}

template <class T>
void store_first(T* to, vector<T> v, unsigned count) {
#if defined(__AVX512F__)
  const unsigned mask = (1u << count) - 1;
  if constexpr (sizeof(T) == 4) _mm512_mask_storeu_epi32(to, static_cast<__mmask16>(mask), (__m512i)v);
  if constexpr (sizeof(T) == 8) _mm512_mask_storeu_epi64(to, static_cast<__mmask8>(mask), (__m512i)v);
#elif defined(__AVX2__)
  const __m256i mask = (__m256i)(lane_numbers<T>() < static_cast<mask_lane<T>>(count));
  if constexpr (sizeof(T) == 4) _mm256_maskstore_epi32((int*)to, mask, (__m256i)v);
  if constexpr (sizeof(T) == 8) _mm256_maskstore_epi64((long long*)to, mask, (__m256i)v);
#else
  T values[lanes<T>];
  store(values, v);
  for (unsigned i = 0; i < count; ++i) to[i] = values[i];
#endif
}

/// Stores past the caches, for output that will not be read soon. `to` must be aligned to the vector.
template <class T>
void stream(T* to, vector<T> v) {
#if defined(__AVX512F__)
  _mm512_stream_si512((__m512i*)to, (__m512i)v);
#elif defined(__AVX2__)
  _mm256_stream_si256((__m256i*)to, (__m256i)v);
#else
  _mm_stream_si128((__m128i*)to, (__m128i)v);
#endif
}

/// Lane l of the result is lane l ^ Distance.
template <int Distance, class T>
vector<T> swap(vector<T> v) {
  return with_lanes<T>([&]<int... I>(std::integer_sequence<int, I...>) {
    return __builtin_shufflevector(v, v, (I ^ Distance)...);
  });
}

/// Takes lanes whose number has the bit Distance from `set`, the others from `clear`.
template <int Distance, class T>
vector<T> blend(vector<T> clear, vector<T> set) {
  if constexpr (vector_bytes == 64)  // the compiler uses it as the mask of the operation that made `set`
    return (lane_numbers<T>() & mask_lane<T>{Distance}) != 0 ? set : clear;
  else
    return with_lanes<T>([&]<int... I>(std::integer_sequence<int, I...>) {
      return __builtin_shufflevector(clear, set, ((I & Distance) != 0 ? I + static_cast<int>(lanes<T>) : I)...);
    });
}

/// swap(blend(clear, set)) in one step.
template <int Distance, class T>
vector<T> swap_blend(vector<T> clear, vector<T> set) {
  if constexpr (vector_bytes == 64)  // one two-source permute
    return with_lanes<T>([&]<int... I>(std::integer_sequence<int, I...>) {
      return __builtin_shufflevector(clear, set,
                                     (I ^ Distance) + ((I & Distance) != 0 ? static_cast<int>(lanes<T>) : 0)...);
    });
  else
    return swap<Distance, T>(blend<Distance, T>(set, clear));
}

/// One step of a transposition of as many vectors as lanes: takes the first (Which = 0) or the second of each pair in a
/// and b. With AVX-512, which has an instruction for any lanes, a pair is two groups of Distance lanes. Otherwise it is
/// two neighbouring lanes: one instruction takes them from each 16 bytes, those of a before those of b. In the last
/// step, where Distance lanes are 16 bytes, it takes half of each vector. After the steps 1, 2, ... lane l comes from
/// vector l.
template <int Distance, int Which, class T>
vector<T> of_pairs(vector<T> a, vector<T> b) {
  constexpr int all = static_cast<int>(lanes<T>), part = 16 / sizeof(T);
  const auto source = [](int lane) {
    if (vector_bytes == 64) return (lane & ~Distance) + Which * Distance + ((lane & Distance) == 0 ? 0 : all);
    if (Distance == part) return lane % part + Which * part + (lane < part ? 0 : all);
    return lane / part * part + lane % (part / 2) * 2 + Which + (lane % part < part / 2 ? 0 : all);
  };
  using shuffled = std::conditional_t<sizeof(T) == 4, vector<float>, vector<T>>;  // integers lack the instruction
  return with_lanes<T>([&]<int... I>(std::integer_sequence<int, I...>) {
    return (vector<T>)__builtin_shufflevector((shuffled)a, (shuffled)b, source(I)...);
  });
}

/// Transposes as many vectors as lanes: swaps lane l of vector i with lane i of vector l.
template <class T, int Distance = 1>
[[gnu::always_inline]] inline void transpose(vector<T>* rows) {
  constexpr int all = static_cast<int>(lanes<T>);
  if constexpr (Distance != all) {
#pragma GCC unroll 16
    for (int i = 0; i < all; ++i) {
      if ((i & Distance) != 0) continue;
      const vector<T> a = rows[i], b = rows[i + Distance];
      rows[i] = of_pairs<Distance, 0, T>(a, b);
      rows[i + Distance] = of_pairs<Distance, 1, T>(a, b);
    }
    transpose<T, 2 * Distance>(rows);
  }
}

/// Copies lane `lane` < lanes to every lane.
template <class T>
vector<T> pick(vector<T> v, unsigned lane) {
#if defined(__AVX512F__)  // the mask avoids a warning of gcc 12 about its own header
  const __m512i lane32 = _mm512_set1_epi32(static_cast<int>(lane)), lane64 = _mm512_set1_epi64(lane);
  if constexpr (sizeof(T) == 4) return (vector<T>)_mm512_maskz_permutexvar_epi32(0xffff, lane32, (__m512i)v);
  if constexpr (sizeof(T) == 8) return (vector<T>)_mm512_maskz_permutexvar_epi64(0xff, lane64, (__m512i)v);
#elif defined(__AVX2__)  // 8-byte lanes are moved as two halves
  __m256i halves = _mm256_set1_epi32(static_cast<int>(lane));
  if constexpr (sizeof(T) == 8) halves = _mm256_set1_epi64x(2ll * lane | (2ll * lane + 1) << 32);
  return (vector<T>)_mm256_permutevar8x32_epi32((__m256i)v, halves);
#else
  T values[lanes<T>];
  store(values, v);
  return broadcast(values[lane]);
#endif
}

/// Moves every lane one down; lane 0 of `last` becomes the last lane.
template <class T>
vector<T> shift_down(vector<T> v, vector<T> last) {
  return with_lanes<T>([&]<int... I>(std::integer_sequence<int, I...>) {
    return __builtin_shufflevector(v, last, (I + 1)...);
  });
}

/// IEEE 754-2019 minimum. `a < b ? a : b` is the processor's minimum instruction, which returns b for equal values and
/// for NaNs. It is computed in both argument orders. The two results are equal, or two zeros, or a and b with at least
/// one NaN. The OR of their bits is then the common value, -0.0 if one zero is negative, or a NaN.
template <class T>
vector<T> minimum(vector<T> a, vector<T> b) {
  using bits = vector<bits_lane<T>>;
  if constexpr (!std::is_floating_point_v<T>)
    return a < b ? a : b;
  else
    return (vector<T>)((bits)(a < b ? a : b) | (bits)(b < a ? b : a));
}

/// IEEE 754-2019 maximum: the same, but with the AND of the two signs.
template <class T>
vector<T> maximum(vector<T> a, vector<T> b) {
  using bits = vector<bits_lane<T>>;
  if constexpr (!std::is_floating_point_v<T>) {
    return a > b ? a : b;
  } else {
    const bits x = (bits)(a > b ? a : b), y = (bits)(b > a ? b : a);
    const bits sign = broadcast<bits_lane<T>>(bits_lane<T>{1} << (8 * sizeof(T) - 1));
    return (vector<T>)(((x | y) & ~sign) | (x & y & sign));
  }
}

/// order::Op::apply on every lane. Integers are computed as unsigned, which wrap by definition.
template <class Op, class T>
vector<T> apply(vector<T> a, vector<T> b) {
  using wrapping = vector<order::wrapping_t<T>>;
  if constexpr (Op::id == op::sum) return (vector<T>)((wrapping)a + (wrapping)b);
  if constexpr (Op::id == op::product) return (vector<T>)((wrapping)a * (wrapping)b);
  if constexpr (Op::id == op::min) return minimum<T>(a, b);
  if constexpr (Op::id == op::max) return maximum<T>(a, b);
}

/// fma(a, b, c) on every lane. Integers must be unsigned and wrap.
template <class T>
vector<T> multiply_add(vector<T> a, vector<T> b, vector<T> c) {
  if constexpr (!std::is_floating_point_v<T>) {
    return a * b + c;
  } else {
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 4) return _mm512_fmadd_ps(a, b, c);
    if constexpr (sizeof(T) == 8) return _mm512_fmadd_pd(a, b, c);
#elif defined(__FMA__)
    if constexpr (sizeof(T) == 4) return _mm256_fmadd_ps(a, b, c);
    if constexpr (sizeof(T) == 8) return _mm256_fmadd_pd(a, b, c);
#else
    for (unsigned lane = 0; lane < lanes<T>; ++lane)
      if constexpr (sizeof(T) == 4)
        c[lane] = __builtin_fmaf(a[lane], b[lane], c[lane]);
      else
        c[lane] = __builtin_fma(a[lane], b[lane], c[lane]);
    return c;
#endif
  }
}

template <class T>
vector<T> canonical(vector<T> v) {
  if constexpr (!std::is_floating_point_v<T>) {
    return v;
  } else {
    constexpr T nan = order::canonical(std::numeric_limits<T>::quiet_NaN());
    return v == v ? v : broadcast<T>(nan);
  }
}

}  // namespace tilewise::backend::cpu::TILEWISE_LEVEL
