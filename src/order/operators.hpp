// SPDX-License-Identifier: Apache-2.0
// What:   the four operators and their identities; with the block stack this is the whole arithmetic of the order.
// Order:  one call of `apply` is one node of a tree; the left operand is the earlier block.
// Limits: usable in host and device code; contraction must be off (cmake/numerics.cmake).
// Twins:  operators.cl gives the same bits in OpenCL C.
#pragma once

#include <tilewise/types.hpp>

#include <limits>
#include <type_traits>

#if defined(__CUDACC__)
#define TILEWISE_ANYWHERE __host__ __device__
#elif defined(_OPENACC)  // otherwise each function called on an accelerator would need a directive
#define TILEWISE_ANYWHERE [[gnu::always_inline]]
#else
#define TILEWISE_ANYWHERE
#endif

namespace tilewise::order {

/// The type in which sums and products are computed: unsigned for signed integers, since unsigned ones wrap by
/// definition.
template <class T>
struct wrapping {
  using type = T;
};
template <>
struct wrapping<std::int32_t> {
  using type = std::uint32_t;
};
template <>
struct wrapping<std::int64_t> {
  using type = std::uint64_t;
};
template <class T>
using wrapping_t = typename wrapping<T>::type;

template <class T>
TILEWISE_ANYWHERE constexpr bool sign_bit(T a) {
  if constexpr (sizeof(T) == 4)
    return (__builtin_bit_cast(std::uint32_t, a) >> 31) != 0;
  else
    return (__builtin_bit_cast(std::uint64_t, a) >> 63) != 0;
}

/// An operator's identity leaves the bits of every value unchanged. For a sum it is -0.0, since -0.0 + -0.0 is -0.0.
struct sum {
  static constexpr op id = op::sum;
  template <class T>
  TILEWISE_ANYWHERE static constexpr T apply(T a, T b) {
    return static_cast<T>(static_cast<wrapping_t<T>>(a) + static_cast<wrapping_t<T>>(b));
  }
  template <class T>
  TILEWISE_ANYWHERE static constexpr T identity() {
    if constexpr (std::is_floating_point_v<T>) return T(-0.0);
    return T(0);
  }
};

struct product {
  static constexpr op id = op::product;
  template <class T>
  TILEWISE_ANYWHERE static constexpr T apply(T a, T b) {
    return static_cast<T>(static_cast<wrapping_t<T>>(a) * static_cast<wrapping_t<T>>(b));
  }
  template <class T>
  TILEWISE_ANYWHERE static constexpr T identity() {
    return T(1);
  }
};

#if __CUDA_ARCH__ >= 800
/// `min::apply` and `max::apply` of floats for device code. They have no branches, since kernels would have thousands
/// of these. If an operand is NaN, the result is NaN, as on the host.
__device__ inline float minimum(float a, float b) {
  float least;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(least) : "f"(a), "f"(b));
  return least;
}
__device__ inline float maximum(float a, float b) {
  float most;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(most) : "f"(a), "f"(b));
  return most;
}
/// If neither operand is less, the result is made of the bits of both. Equal numbers differ at most in the sign of a
/// zero, and a NaN with more fraction bits set is still a NaN.
__device__ inline double minimum(double a, double b) {
  const double both = __longlong_as_double(__double_as_longlong(a) | __double_as_longlong(b));
  return a < b ? a : b < a ? b : both;
}
__device__ inline double maximum(double a, double b) {
  const std::int64_t x = __double_as_longlong(a), y = __double_as_longlong(b);
  const double both = __longlong_as_double((x | y) & ~((x ^ y) & std::numeric_limits<std::int64_t>::min()));
  return b < a ? a : a < b ? b : both;
}
#endif

/// IEEE 754-2019 `minimum`: if an operand is NaN, the result is NaN; -0.0 is less than +0.0.
struct min {
  static constexpr op id = op::min;
  template <class T>
  TILEWISE_ANYWHERE static constexpr T apply(T a, T b) {
#if __CUDA_ARCH__ >= 800
    if constexpr (std::is_floating_point_v<T>) return minimum(a, b);
#endif
    if (a < b) return a;
    if (b < a) return b;
    if constexpr (std::is_floating_point_v<T>) {
      if (a == b) return sign_bit(a) ? a : b;
      return a + b;  // at least one is a NaN
    }
    return a;
  }
  template <class T>
  TILEWISE_ANYWHERE static constexpr T identity() {
    if constexpr (std::is_floating_point_v<T>) return std::numeric_limits<T>::infinity();
    return std::numeric_limits<T>::max();
  }
};

/// IEEE 754-2019 `maximum`.
struct max {
  static constexpr op id = op::max;
  template <class T>
  TILEWISE_ANYWHERE static constexpr T apply(T a, T b) {
#if __CUDA_ARCH__ >= 800
    if constexpr (std::is_floating_point_v<T>) return maximum(a, b);
#endif
    if (b < a) return a;
    if (a < b) return b;
    if constexpr (std::is_floating_point_v<T>) {
      if (a == b) return sign_bit(a) ? b : a;
      return a + b;
    }
    return a;
  }
  template <class T>
  TILEWISE_ANYWHERE static constexpr T identity() {
    if constexpr (std::is_floating_point_v<T>) return -std::numeric_limits<T>::infinity();
    return std::numeric_limits<T>::lowest();
  }
};

/// Makes a NaN the canonical NaN. Every result passes through this, since processors give different signs and payloads.
template <class T>
TILEWISE_ANYWHERE constexpr T canonical(T value) {
  if constexpr (std::is_same_v<T, float>) return value == value ? value : __builtin_bit_cast(float, 0x7fc00000u);
  if constexpr (std::is_same_v<T, double>)
    return value == value ? value : __builtin_bit_cast(double, 0x7ff8000000000000ull);
  return value;
}

/// Calls `f` with a value of the type in which sums and products of `type` are computed.
template <class F>
decltype(auto) with_wrapping_type(dtype type, F&& f) {
  return with_type(type, [&]<class T>(T) { return f(wrapping_t<T>{}); });
}

/// Calls `f` with the operator that `operation` names.
template <class F>
decltype(auto) with_operator(op operation, F&& f) {
  switch (operation) {
    case op::sum: return f(sum{});
    case op::product: return f(product{});
    case op::min: return f(min{});
    default: return f(max{});
  }
}

}  // namespace tilewise::order
