// SPDX-License-Identifier: Apache-2.0
// What:   shared by the CUDA diffusion kernels: elements at and beyond the edges, and the stepping of a warp's rows.
// Order:  mask.hpp.
// Limits: contraction must be off (cmake/numerics.cmake).
// Twins:  serial.cpp, opencl/program.cl.
#pragma once

#include "backend/cuda/error.hpp"
#include "backend/cuda/queue.hpp"
#include "backend/cuda/warp.cuh"
#include "diffuse/problem.hpp"
#include "order/operators.hpp"

#include <bit>

namespace tilewise::impl::diffuse {

using namespace backend::cuda;

/// A field and its step. As a kernel's argument it is in constant memory, and with it the mask.
template <class T>
struct field {
  std::int64_t rows, columns;
  std::int64_t half;  // the first row that belongs to the right strip
  weights<T> w, scaled;
  bool can_scale;

  explicit field(const registry::problem& p)
      : rows(static_cast<std::int64_t>(p.shape[0])),
        columns(static_cast<std::int64_t>(p.shape[1])),
        half(static_cast<std::int64_t>(sizes(p).half())),
        w(weights_in<T>(p)),
        scaled(scaled_weights(w)),
        can_scale(diffuse::can_scale(mask_of(p), w)) {}

  template <mask Mask>
  __device__ const weights<T>& weights_for() const {
    return Mask == mask::scaled_five_points ? scaled : w;
  }

  __device__ bool in_strip(std::int64_t j, std::int64_t i) const { return j < half ? i == 0 : i == columns - 1; }
  /// Clamps an index to [0, count).
  static __device__ std::int64_t within(std::int64_t index, std::int64_t count) {
    return index < 0 ? 0 : index < count ? index : count - 1;
  }
};

/// Uses one fused instruction if the product is exact.
struct device_arithmetic : plain_arithmetic {
  template <class T>
  TILEWISE_KERNEL_PART static T plus_exact(T sum, T a, T b) {
    return ::fma(a, b, sum);
  }
};

/// The mask in the form that is tried first.
constexpr mask quick_form(mask m) { return m == mask::five_points ? mask::scaled_five_points : m; }

/// Whether the magnitude of a value is huge_value or more, or it is NaN.
__device__ __forceinline__ bool is_huge(double value) {
  constexpr auto least = static_cast<int>(std::bit_cast<std::uint64_t>(huge_value<double>) >> 32);
  return (__double2hiint(value) & 0x7fffffff) >= least;
}
__device__ __forceinline__ bool is_huge(float value) { return !(fabsf(value) < huge_value<float>); }

/// Whether each row of both fields begins and ends with a pack.
template <class T>
bool is_packed(const T* from, const T* to, std::uint64_t columns) {
  return columns % pack_length<T> == 0 && is_packable(from) && is_packable(to);
}

/// Steps a warp's rows, which come in one by one. Each row adds its terms to the sums of the rows around it, so each
/// product is computed once, and a row waits only for its last terms. With Remake the first term of a star is computed
/// when the next row comes in: this saves registers, and costs a product.
template <class T, mask Mask, int Columns, bool Remake = false>
struct row_sums {
  static constexpr int radius = radius_of(Mask);
  static constexpr int width = Columns + 2 * radius;
  using row = T[Columns];

  T old[radius][Columns];       // the last rows to come in
  T sums[2 * radius][Columns];  // the sums of the row to be finished next, and of the rows after it

  /// A lane's part of a row, and the elements beside it. Beyond the warp there are copies of the outer elements or,
  /// without Ghosts, unspecified elements.
  template <bool Ghosts = true>
  static __device__ __forceinline__ void widen(const row& values, T (&wide)[width]) {
    const unsigned lane = threadIdx.x % warp_size;
#pragma unroll
    for (int v = 0; v < Columns; ++v) wide[radius + v] = values[v];
#pragma unroll
    for (int r = 0; r < radius; ++r) {
      const T before = __shfl_up_sync(all_lanes, values[Columns - radius + r], 1);
      const T after = __shfl_down_sync(all_lanes, values[r], 1);
      wide[r] = Ghosts && lane == 0 ? values[0] : before;
      wide[radius + Columns + r] = Ghosts && lane == warp_size - 1 ? values[Columns - 1] : after;
    }
  }

  /// Takes in a row. `next` becomes the stepped row that lies a radius before it.
  __device__ __forceinline__ void push(const T (&wide)[width], row& next, const weights<T>& w) {
#pragma unroll
    for (int v = 0; v < Columns; ++v) {
      const auto at = [&](int, int dx) { return wide[radius + v + dx]; };
      if (Remake && Mask != mask::nine_points)
        sums[2 * radius - 1][v] =
            with_row<Mask, device_arithmetic>(-radius, T(0), w, [&](int, int) { return old[radius - 1][v]; });
      next[v] = old[0][v] + w.rate * with_row<Mask, device_arithmetic>(radius, sums[0][v], w, at);
#pragma unroll
      for (int k = 0; k + 1 < 2 * radius; ++k)
        sums[k][v] = with_row<Mask, device_arithmetic>(radius - 1 - k, sums[k + 1][v], w, at);
      sums[2 * radius - 1][v] = with_row<Mask, device_arithmetic>(-radius, T(0), w, at);
#pragma unroll
      for (int k = 0; k + 1 < radius; ++k) old[k][v] = old[k + 1][v];
      old[radius - 1][v] = at(0, 0);
    }
  }
};

/// A mask as a type, for kernels' template arguments.
template <mask Mask>
struct mask_constant {
  static constexpr mask value = Mask;
};

/// Calls f(T{}, mask_constant<Mask>{}).
template <class F>
void with_type_and_mask(const registry::problem& p, const F& f) {
  with_float(p.type, [&]<class T>(T) {
    switch (mask_of(p)) {
      case mask::five_points: return f(T{}, mask_constant<mask::five_points>{});
      case mask::nine_points: return f(T{}, mask_constant<mask::nine_points>{});
      default: return f(T{}, mask_constant<mask::cross>{});
    }
  });
}

/// Whether the device can hold the field as the variant resident does.
bool resident_takes(const registry::problem& p, const backend::device& on);

}  // namespace tilewise::impl::diffuse
