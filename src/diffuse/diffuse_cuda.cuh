// What:   what the CUDA diffusion kernels share: an element as the next step sees it, and its step.
// Order:  the mask's rows in order, in each its columns in order; each product and each sum is rounded.
// Limits: contraction must be off (cmake/numerics.cmake).
// Twins:  diffuse_serial.cpp, diffuse.cl.
#pragma once

#include "backend/cuda/cuda_error.hpp"
#include "backend/cuda/cuda_queue.hpp"
#include "diffuse/diffuse_problem.hpp"
#include "order/operators.hpp"

#include <bit>

namespace tilewise::impl::diffuse {

/// A field and its step. As a kernel's argument it is in constant memory, and with it the mask.
template <class T>
struct field {
  std::int64_t rows, columns;
  weights<T> w, scaled;
  bool can_scale;

  explicit field(const registry::problem& p)
      : rows(static_cast<std::int64_t>(p.shape[0])),
        columns(static_cast<std::int64_t>(p.shape[1])),
        w(weights_in<T>(p)),
        scaled(scaled_weights(w)),
        can_scale(diffuse::can_scale(mask_of(p), w)) {}

  template <mask Mask>
  __device__ const weights<T>& weights_for() const {
    return Mask == mask::scaled_five_points ? scaled : w;
  }

  __device__ bool in_strip(std::int64_t j, std::int64_t i) const { return j < rows / 2 ? i == 0 : i == columns - 1; }
  /// Where an index beyond an edge stands.
  static __device__ std::int64_t within(std::int64_t index, std::int64_t count) {
    return index < 0 ? 0 : index < count ? index : count - 1;
  }
};

/// The sum so far with the terms of the mask's row dy, of which at(dx) are the elements. The first row begins the sum.
template <mask Mask, class T, class At>
__device__ __forceinline__ T with_row(int dy, T sum, const weights<T>& w, const At& at) {
  constexpr int radius = radius_of(Mask);
  if constexpr (Mask == mask::scaled_five_points) {
    if (dy == 0) return ::fma(w.centre, at(0), sum + at(-1)) + at(1);  // the product is exact: fused or not is the same
    return dy < 0 ? at(0) : sum + at(0);
  }
  if (dy == 0) {
    if constexpr (Mask == mask::cross) sum = sum + w.far_x * at(-2);
    sum = sum + w.side_x * at(-1);
    sum = sum + w.centre * at(0);
    sum = sum + w.side_x * at(1);
    if constexpr (Mask == mask::cross) sum = sum + w.far_x * at(2);
    return sum;
  }
  if constexpr (Mask == mask::nine_points) {
    sum = dy < 0 ? w.corner * at(-1) : sum + w.corner * at(-1);
    sum = sum + w.side_y * at(0);
    return sum + w.corner * at(1);
  }
  const T product = (dy == -2 || dy == 2 ? w.far_y : w.side_y) * at(0);
  return dy == -radius ? product : sum + product;
}

/// Of the element at(0, 0), where at(dy, dx) is one of its neighbours.
template <mask Mask, class T, class At>
__device__ __forceinline__ T stepped(const weights<T>& w, const At& at) {
  constexpr int radius = radius_of(Mask);
  T lap = 0;
#pragma unroll
  for (int dy = -radius; dy <= radius; ++dy) lap = with_row<Mask>(dy, lap, w, [&](int dx) { return at(dy, dx); });
  return at(0, 0) + w.rate * lap;
}

/// The mask in the form that is tried first.
constexpr mask quick_form(mask m) { return m == mask::five_points ? mask::scaled_five_points : m; }

/// Whether a value is huge_value or more, or no number.
__device__ __forceinline__ bool is_huge(double value) {
  constexpr auto least = static_cast<int>(std::bit_cast<std::uint64_t>(huge_value<double>) >> 32);
  return (__double2hiint(value) & 0x7fffffff) >= least;
}
__device__ __forceinline__ bool is_huge(float value) { return !(fabsf(value) < huge_value<float>); }

inline constexpr int warp_lanes = 32;

/// Elements of a row that one load or store moves, 16 bytes.
template <class T>
inline constexpr int pack = 16 / sizeof(T);

template <class T>
__device__ __forceinline__ void load_pack(const T* from, T* values) {
  const uint4 bits = __ldg(reinterpret_cast<const uint4*>(from));
  memcpy(values, &bits, sizeof bits);
}
template <class T>
__device__ __forceinline__ void store_pack(T* to, const T* values) {
  uint4 bits;
  memcpy(&bits, values, sizeof bits);
  *reinterpret_cast<uint4*>(to) = bits;
}

/// Whether each row of both fields begins with a pack and ends with one.
template <class T>
bool is_packed(const T* from, const T* to, std::uint64_t columns) {
  return columns % pack<T> == 0 && reinterpret_cast<std::uintptr_t>(from) % 16 == 0 &&
         reinterpret_cast<std::uintptr_t>(to) % 16 == 0;
}

/// Of the calling thread; by a shuffle, so that the compiler knows that it is the same in all lanes.
__device__ __forceinline__ unsigned warp_of_group() { return __shfl_sync(~0u, threadIdx.x / warp_lanes, 0); }

/// A warp's rows that come in one after the other, and the sums they are part of: a row adds its terms to those of the
/// rows around it, so each product is made once and no row waits for more than its last terms. Remake: but the first
/// term of a star is made when the next row comes in, for where registers are dearer than a product.
template <class T, mask Mask, int Columns, bool Remake = false>
struct row_sums {
  static constexpr int radius = radius_of(Mask);
  static constexpr int width = Columns + 2 * radius;
  using row = T[Columns];

  T old[radius][Columns];       // the last rows to come in
  T sums[2 * radius][Columns];  // of the row to be finished next, and of those after it

  /// A lane's part of a row and its neighbours'. Beyond the warp stand copies of the outer elements; without Ghosts,
  /// some elements of the outer lanes.
  template <bool Ghosts = true>
  static __device__ __forceinline__ void widen(const row& values, T (&wide)[width]) {
    const unsigned lane = threadIdx.x % warp_lanes;
#pragma unroll
    for (int v = 0; v < Columns; ++v) wide[radius + v] = values[v];
#pragma unroll
    for (int r = 0; r < radius; ++r) {
      const T before = __shfl_up_sync(~0u, values[Columns - radius + r], 1);
      const T after = __shfl_down_sync(~0u, values[r], 1);
      wide[r] = Ghosts && lane == 0 ? values[0] : before;
      wide[radius + Columns + r] = Ghosts && lane == warp_lanes - 1 ? values[Columns - 1] : after;
    }
  }

  /// A row comes in, and the one a radius before it leaves stepped.
  __device__ __forceinline__ void push(const T (&wide)[width], row& next, const weights<T>& w) {
#pragma unroll
    for (int v = 0; v < Columns; ++v) {
      const auto at = [&](int dx) { return wide[radius + v + dx]; };
      if (Remake && Mask != mask::nine_points)
        sums[2 * radius - 1][v] = with_row<Mask>(-radius, T(0), w, [&](int) { return old[radius - 1][v]; });
      next[v] = old[0][v] + w.rate * with_row<Mask>(radius, sums[0][v], w, at);
#pragma unroll
      for (int k = 0; k + 1 < 2 * radius; ++k) sums[k][v] = with_row<Mask>(radius - 1 - k, sums[k + 1][v], w, at);
      sums[2 * radius - 1][v] = with_row<Mask>(-radius, T(0), w, at);
#pragma unroll
      for (int k = 0; k + 1 < radius; ++k) old[k][v] = old[k + 1][v];
      old[radius - 1][v] = at(0);
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

}  // namespace tilewise::impl::diffuse
