// SPDX-License-Identifier: Apache-2.0
// What:   coefficients of a product by the definition, with vectors; compiled once for each x86-64 level.
// Order:  a lane is one coefficient's chain, i ascending; products outside a chain of floats do not touch it.
// Shape:  eight vectors of neighbouring coefficients in registers; a step multiplies one a[i] by the b's they need.
// Limits: without FMA instructions every step of a chain of floats is a call to fma(): correct, but slow.
// Twins:  serial.cpp.
#include "polymul/cpu/naive_kernels.hpp"

#include "backend/cpu/vector.hpp"

namespace tilewise::impl::polymul::TILEWISE_LEVEL {

namespace level = backend::cpu::TILEWISE_LEVEL;

namespace {

template <class T>
using vector = level::vector<T>;
template <class T>
constexpr unsigned width = level::lanes<T>;
constexpr unsigned vectors = 8;
static_assert(vectors * width<float> <= naive_margin);

/// a b + c for integers that are sign-extended from 32 bits.
vector<std::uint64_t> multiply_add_narrow(vector<std::uint64_t> a, vector<std::uint64_t> b, vector<std::uint64_t> c) {
#if defined(__AVX512F__)
  return (vector<std::uint64_t>)_mm512_mul_epi32((__m512i)a, (__m512i)b) + c;
#elif defined(__AVX2__)
  return (vector<std::uint64_t>)_mm256_mul_epi32((__m256i)a, (__m256i)b) + c;
#else
  return (vector<std::uint64_t>)_mm_mul_epi32((__m128i)a, (__m128i)b) + c;
#endif
}

template <bool Narrow, class T>
[[gnu::always_inline]] inline vector<T> multiply_add(vector<T> a, vector<T> b, vector<T> c) {
  if constexpr (Narrow)
    return multiply_add_narrow(a, b, c);
  else
    return level::multiply_add<T>(a, b, c);
}

/// Computes steps i in [begin, end) of the coefficients from k on. With Margin, a lane whose b[k + lane - i] is outside
/// b keeps its chain. Integers do not need this, since a product with zero changes nothing.
template <bool Narrow, bool Margin, class T>
[[gnu::always_inline]] inline void steps(vector<T> (&chain)[vectors], const T* a, const T* b, std::uint64_t m,
                                         std::uint64_t k, std::uint64_t begin, std::uint64_t end) {
  using lane = level::mask_lane<T>;
  for (std::uint64_t i = begin; i < end; ++i) {
    const vector<T> factor = level::broadcast(a[i]);
    const auto at = static_cast<std::int64_t>(k) - static_cast<std::int64_t>(i);
#pragma GCC unroll 8
    for (unsigned v = 0; v < vectors; ++v) {
      const std::int64_t first = at + v * width<T>;
      const vector<T> next = multiply_add<Narrow, T>(factor, level::load(b + first), chain[v]);
      if constexpr (Margin && std::is_floating_point_v<T>) {
        // Lanes from -first to m - first; both ends are clamped to valid lane numbers.
        const std::int64_t low = -first, high = static_cast<std::int64_t>(m) - first, most = width<T>;
        const auto numbers = level::lane_numbers<T>();
        const auto is_mine = (numbers >= static_cast<lane>(low < 0      ? 0
                                                           : low > most ? most
                                                                        : low)) &
                             (numbers < static_cast<lane>(high < 0      ? 0
                                                          : high > most ? most
                                                                        : high));
        chain[v] = is_mine ? next : chain[v];
      } else {
        chain[v] = next;
      }
    }
  }
}

template <bool Narrow, class T>
void multiply(const T* a, std::uint64_t n, const T* b, std::uint64_t m, T* c, std::uint64_t first,
              std::uint64_t count) {
  constexpr std::uint64_t block = vectors * width<T>;
  const auto below = [](std::uint64_t x, std::uint64_t y) { return x < y ? x : y; };
  for (std::uint64_t at = 0; at < count; at += block) {
    const std::uint64_t k = first + at, last = k + block - 1;  // the coefficients k to last
    // All of these coefficients have products i in [whole, end_of_whole); some also have others in [begin, end).
    const std::uint64_t begin = k < m ? 0 : k - m + 1, end = below(n, last + 1);
    const std::uint64_t whole = below(last < m ? 0 : last - m + 1, end), end_of_whole = below(n, k + 1);
    vector<T> chain[vectors] = {};
    steps<Narrow, true>(chain, a, b, m, k, begin, whole);
    if (whole < end_of_whole) steps<Narrow, false>(chain, a, b, m, k, whole, end_of_whole);
    steps<Narrow, true>(chain, a, b, m, k, whole < end_of_whole ? end_of_whole : whole, end);
    T result[block];
    for (unsigned v = 0; v < vectors; ++v) level::store<T>(result + v * width<T>, level::canonical<T>(chain[v]));
    __builtin_memcpy(c + at, result, below(block, count - at) * sizeof(T));
  }
}

}  // namespace

template <class T>
const naive_kernels<T>& naive() {
  static constexpr naive_kernels<T> all = [] {
    if constexpr (std::is_floating_point_v<T>)
      return naive_kernels<T>{multiply<false, T>, nullptr};
    else
      return naive_kernels<T>{multiply<false, T>, multiply<true, T>};
  }();
  return all;
}

template const naive_kernels<float>& naive<float>();
template const naive_kernels<double>& naive<double>();
template const naive_kernels<std::uint64_t>& naive<std::uint64_t>();

}  // namespace tilewise::impl::polymul::TILEWISE_LEVEL
