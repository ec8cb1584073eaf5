// SPDX-License-Identifier: Apache-2.0
// What:   the masks, their weights, and an element's step; one source for the kernels of CPU, OpenACC and CUDA.
// Order:  the mask's rows in order, in each row its columns in order; each product and each sum is rounded.
// Limits: contraction must be off (cmake/numerics.cmake), or `Arithmetic` must compute products that no compiler fuses.
// Twins:  serial.cpp, opencl/program.cl.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#if defined(__CUDACC__)
#define TILEWISE_KERNEL_PART __device__ __forceinline__
#else  // OpenACC needs all calls inlined on the accelerator, and vectors cannot be passed to functions
#define TILEWISE_KERNEL_PART [[gnu::always_inline]] inline
#endif

namespace tilewise::impl::diffuse {

/// The first three are in the order of the setting's words "53", "93", "95". The last is a form of the first; see
/// `scaled_weights`.
enum class mask : std::uint8_t { five_points, nine_points, cross, scaled_five_points };
inline constexpr std::array<std::string_view, 3> mask_words{"53", "93", "95"};

constexpr unsigned radius_of(mask m) { return m == mask::cross ? 2 : 1; }
constexpr unsigned taps_of(mask m) { return m == mask::five_points ? 5 : 9; }

/// A weight that the mask lacks is 0. The definition begins its sum with +0.0; variants may begin with the first
/// product instead. The sums then differ only as -0.0 and +0.0. This does not change old + rate * lap, since only the
/// centre's weight is negative.
template <class T>
struct weights {
  T centre, side_x, side_y;
  T corner, far_x, far_y;  // 93 has corners, 95 has far sides
  T rate;
};

/// From this magnitude on, the definition's sums may overflow after some steps.
template <class T>
constexpr T huge_value = sizeof(T) == 8 ? T(0x1p1000) : T(0x1p100f);

struct plain_arithmetic {
  template <class Value>
  TILEWISE_KERNEL_PART static Value product(Value a, Value b) {
    return a * b;
  }
  /// sum + a * b for an exact product: fusing does not change the bits.
  template <class Value>
  TILEWISE_KERNEL_PART static Value plus_exact(Value sum, Value a, Value b) {
    return sum + a * b;
  }
};

/// Returns `sum` plus the terms of the mask's row dy, whose elements are at(dy, dx). The first row begins the sum.
/// `Value` is an element or a vector of neighbouring elements; `Weights` has the fields of `weights`.
template <mask Mask, class Arithmetic, class Value, class Weights, class At>
TILEWISE_KERNEL_PART Value with_row(int dy, Value sum, const Weights& w, const At& at) {
  constexpr int radius = radius_of(Mask);
  if constexpr (Mask == mask::scaled_five_points) {
    if (dy == 0) return Arithmetic::plus_exact(sum + at(0, -1), w.centre, at(0, 0)) + at(0, 1);
    return dy < 0 ? at(dy, 0) : sum + at(dy, 0);
  }
  if (dy == 0) {
    if constexpr (Mask == mask::cross) sum = sum + Arithmetic::product(w.far_x, at(0, -2));
    sum = sum + Arithmetic::product(w.side_x, at(0, -1));
    sum = sum + Arithmetic::product(w.centre, at(0, 0));
    sum = sum + Arithmetic::product(w.side_x, at(0, 1));
    if constexpr (Mask == mask::cross) sum = sum + Arithmetic::product(w.far_x, at(0, 2));
    return sum;
  }
  if constexpr (Mask == mask::nine_points) {
    sum = dy < 0 ? Arithmetic::product(w.corner, at(dy, -1)) : sum + Arithmetic::product(w.corner, at(dy, -1));
    sum = sum + Arithmetic::product(w.side_y, at(dy, 0));
    return sum + Arithmetic::product(w.corner, at(dy, 1));
  }
  const Value product = Arithmetic::product(dy == -2 || dy == 2 ? w.far_y : w.side_y, at(dy, 0));
  return dy == -radius ? product : sum + product;
}

/// The value of at(0, 0) one step later.
template <mask Mask, class Arithmetic, class Weights, class At>
TILEWISE_KERNEL_PART auto stepped(const Weights& w, const At& at) {
  using value = decltype(at(0, 0));
  constexpr int radius = radius_of(Mask);
  value lap = with_row<Mask, Arithmetic>(-radius, value{}, w, at);
  if constexpr (radius == 2) lap = with_row<Mask, Arithmetic>(-1, lap, w, at);
  lap = with_row<Mask, Arithmetic>(0, lap, w, at);
  lap = with_row<Mask, Arithmetic>(1, lap, w, at);
  if constexpr (radius == 2) lap = with_row<Mask, Arithmetic>(2, lap, w, at);
  return at(0, 0) + Arithmetic::product(w.rate, lap);
}

}  // namespace tilewise::impl::diffuse
