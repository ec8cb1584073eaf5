// SPDX-License-Identifier: Apache-2.0
// 64 values of each element type at which operators go wrong, and the expected result of each operator for any two of
// them. The results are written case by case and in wider arithmetic, without anything from src/order.
#pragma once

#include "lab/verify/generate.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace tilewise::tests {

template <class T>
using bits_like = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

/// Magnitudes of floats. Each is used with both signs.
template <class T>
std::vector<T> special_magnitudes() {
  using limits = std::numeric_limits<T>;
  using word = bits_like<T>;
  const word infinity = std::bit_cast<word>(limits::infinity());
  const word quiet = std::bit_cast<word>(limits::quiet_NaN());
  const auto of = [](word pattern) { return std::bit_cast<T>(pattern); };
  const T root = std::ldexp(T(1), limits::max_exponent / 2);  // its square overflows, its inverse's square underflows
  return {T(0),
          limits::denorm_min(),
          of(3),
          limits::min() / 2,
          limits::min() - limits::denorm_min(),
          limits::min(),
          2 * limits::min(),
          T(0.1),
          T(0.5),
          1 - limits::epsilon() / 2,
          T(1),
          1 + limits::epsilon(),
          T(1.5),
          T(2),
          T(3),
          root,
          1 / root,
          root * T(1.5),
          limits::max() / 2,
          limits::max(),
          limits::infinity(),
          of(infinity + 1),
          of(quiet),
          of(quiet + 1),
          of(~word(0) >> 1)};
}

template <class T>
std::array<T, 64> special_values() {
  std::array<T, 64> values{};
  lab::generate(lab::data_class::wide, 9, dtype_of<T>, 0, values.size(), values.data());
  std::size_t count = 0;
  if constexpr (std::is_floating_point_v<T>) {
    for (T magnitude : special_magnitudes<T>()) {
      values[count++] = magnitude;
      values[count++] = std::bit_cast<T>(std::bit_cast<bits_like<T>>(magnitude) ^ std::bit_cast<bits_like<T>>(T(-0.0)));
    }
  } else {
    using limits = std::numeric_limits<T>;
    for (T near : {T(0), limits::max(), limits::lowest(), static_cast<T>(limits::max() / 2)})
      for (int step = -3; step <= 3; ++step)
        values[count++] = static_cast<T>(static_cast<bits_like<T>>(near) + static_cast<bits_like<T>>(step));
  }
  return values;
}

/// More than twice the bits of a sum or product, so that rounding to T a second time changes nothing (Figueroa, When is
/// double rounding innocuous?, 1995).
__extension__ typedef __float128 quad;
template <class T>
using wider = std::conditional_t<std::is_same_v<T, float>, double, quad>;

template <class T>
T float_oracle(op operation, T a, T b) {
  const T nan = std::bit_cast<T>(sizeof(T) == 4 ? bits_like<T>(0x7fc00000u) : bits_like<T>(0x7ff8000000000000u));
  if (std::isnan(a) || std::isnan(b)) return nan;
  if (operation == op::min || operation == op::max) {
    const bool a_is_less = a != b ? a < b : std::signbit(a) && !std::signbit(b);
    return a_is_less == (operation == op::min) ? a : b;
  }
  if (operation == op::sum && std::isinf(a) && std::isinf(b)) return std::signbit(a) == std::signbit(b) ? a : nan;
  if (operation == op::product && ((std::isinf(a) && b == 0) || (a == 0 && std::isinf(b)))) return nan;
  const auto x = static_cast<wider<T>>(a), y = static_cast<wider<T>>(b);
  return static_cast<T>(operation == op::sum ? x + y : x * y);
}

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 wide_word;
template <class T>
T integer_oracle(op operation, T a, T b) {
  switch (operation) {
    case op::sum: return static_cast<T>(static_cast<wide>(a) + static_cast<wide>(b));
    case op::product: return static_cast<T>(static_cast<wide_word>(a) * static_cast<wide_word>(b));
    case op::min: return static_cast<wide>(a) < static_cast<wide>(b) ? a : b;
    default: return static_cast<wide>(a) > static_cast<wide>(b) ? a : b;
  }
}

template <class T>
T oracle(op operation, T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return float_oracle(operation, a, b);
  else
    return integer_oracle(operation, a, b);
}

}  // namespace tilewise::tests
