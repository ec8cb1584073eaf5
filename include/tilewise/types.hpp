// SPDX-License-Identifier: Apache-2.0
// The element types and operators that all algorithms share.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace tilewise {

/// An element type. The tool and the records use the same names: f32, f64, i32, i64, u32, u64.
enum class dtype : std::uint8_t { f32, f64, i32, i64, u32, u64 };

/// An operator of reductions and scans. Integers wrap modulo 2^32 or 2^64; min and max of floats follow IEEE 754-2019
/// `minimum` and `maximum`: if an operand is NaN, the result is NaN, and -0.0 is less than +0.0.
enum class op : std::uint8_t { sum, product, min, max };

/// All element types.
inline constexpr std::array all_dtypes{dtype::f32, dtype::f64, dtype::i32, dtype::i64, dtype::u32, dtype::u64};
/// The floating-point types.
inline constexpr std::array float_types{dtype::f32, dtype::f64};
/// All operators.
inline constexpr std::array all_ops{op::sum, op::product, op::min, op::max};

template <class T>
concept scalar = std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::int32_t> ||
    std::same_as<T, std::int64_t> || std::same_as<T, std::uint32_t> || std::same_as<T, std::uint64_t>;

/// An element in host memory: a scalar, or the other C++ type that is the same 64-bit integer.
template <class T>
concept element = scalar<T> || std::same_as<T, long long> || std::same_as<T, unsigned long long>;

/// The dtype of a C++ type.
template <element T>
inline constexpr dtype dtype_of = std::is_floating_point_v<T> ? (sizeof(T) == 4 ? dtype::f32 : dtype::f64)
                                  : std::is_signed_v<T>       ? (sizeof(T) == 4 ? dtype::i32 : dtype::i64)
                                                              : (sizeof(T) == 4 ? dtype::u32 : dtype::u64);

/// The scalar that has an element's bits: std::int64_t for long long.
template <element T>
using scalar_of =
    std::conditional_t<scalar<T>, T, std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;

/// Bytes of one element.
constexpr std::size_t size_of(dtype type) {
  return type == dtype::f32 || type == dtype::i32 || type == dtype::u32 ? 4 : 8;
}

/// Whether the type is a floating-point type.
constexpr bool is_float(dtype type) { return type == dtype::f32 || type == dtype::f64; }

/// The type's name, such as "f32".
constexpr std::string_view name_of(dtype type) {
  constexpr std::array<std::string_view, 6> names{"f32", "f64", "i32", "i64", "u32", "u64"};
  return names[static_cast<std::size_t>(type)];
}

/// The operator's name, such as "sum".
constexpr std::string_view name_of(op operation) {
  constexpr std::array<std::string_view, 4> names{"sum", "product", "min", "max"};
  return names[static_cast<std::size_t>(operation)];
}

/// Calls `f` with a value of the C++ type that `type` names, and returns what it returns.
template <class F>
decltype(auto) with_type(dtype type, F&& f) {
  switch (type) {
    case dtype::f32: return f(float{});
    case dtype::f64: return f(double{});
    case dtype::i32: return f(std::int32_t{});
    case dtype::i64: return f(std::int64_t{});
    case dtype::u32: return f(std::uint32_t{});
    default: return f(std::uint64_t{});
  }
}

/// The same for f32 and f64 only.
template <class F>
decltype(auto) with_float(dtype type, F&& f) {
  return type == dtype::f32 ? f(float{}) : f(double{});
}

}  // namespace tilewise
