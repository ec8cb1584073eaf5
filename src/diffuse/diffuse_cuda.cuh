// What:   what the CUDA diffusion kernels share: an element as the next step sees it, and its step.
// Order:  the mask's rows in order, in each its columns in order; each product and each sum is rounded.
// Limits: contraction must be off (cmake/numerics.cmake).
// Twins:  diffuse_serial.cpp, diffuse.cl.
#pragma once

#include "backend/cuda/cuda_error.hpp"
#include "backend/cuda/cuda_queue.hpp"
#include "diffuse/diffuse_problem.hpp"
#include "order/operators.hpp"

namespace tilewise::impl::diffuse {

/// A field and its step. As a kernel's argument it is in constant memory, and with it the mask.
template <class T>
struct field {
  std::int64_t rows, columns;
  weights<T> w;

  explicit field(const registry::problem& p)
      : rows(static_cast<std::int64_t>(p.shape[0])),
        columns(static_cast<std::int64_t>(p.shape[1])),
        w(weights_in<T>(p)) {}

  __device__ bool in_strip(std::int64_t j, std::int64_t i) const { return j < rows / 2 ? i == 0 : i == columns - 1; }
  /// Where an index beyond an edge stands.
  static __device__ std::int64_t within(std::int64_t index, std::int64_t count) {
    return index < 0 ? 0 : index < count ? index : count - 1;
  }
};

/// Of the element at(0, 0), where at(dy, dx) is one of its neighbours.
template <mask Mask, class T, class At>
__device__ __forceinline__ T stepped(const weights<T>& w, const At& at) {
  const T old = at(0, 0);
  T lap;
  if constexpr (Mask == mask::five_points) {
    lap = w.side_y * at(-1, 0);
    lap = lap + w.side_x * at(0, -1);
    lap = lap + w.centre * old;
    lap = lap + w.side_x * at(0, 1);
    lap = lap + w.side_y * at(1, 0);
  } else if constexpr (Mask == mask::nine_points) {
    lap = w.corner * at(-1, -1);
    lap = lap + w.side_y * at(-1, 0);
    lap = lap + w.corner * at(-1, 1);
    lap = lap + w.side_x * at(0, -1);
    lap = lap + w.centre * old;
    lap = lap + w.side_x * at(0, 1);
    lap = lap + w.corner * at(1, -1);
    lap = lap + w.side_y * at(1, 0);
    lap = lap + w.corner * at(1, 1);
  } else {
    lap = w.far_y * at(-2, 0);
    lap = lap + w.side_y * at(-1, 0);
    lap = lap + w.far_x * at(0, -2);
    lap = lap + w.side_x * at(0, -1);
    lap = lap + w.centre * old;
    lap = lap + w.side_x * at(0, 1);
    lap = lap + w.far_x * at(0, 2);
    lap = lap + w.side_y * at(1, 0);
    lap = lap + w.far_y * at(2, 0);
  }
  return old + w.rate * lap;
}

/// A mask as a type, for kernels' template arguments.
template <mask Mask>
struct mask_constant {
  static constexpr mask value = Mask;
};

/// Calls f(T{}, mask_constant<Mask>{}).
template <class F>
void with_type_and_mask(const registry::problem& p, const F& f) {
  with_field_type(p.type, [&]<class T>(T) {
    switch (mask_of(p)) {
      case mask::five_points: return f(T{}, mask_constant<mask::five_points>{});
      case mask::nine_points: return f(T{}, mask_constant<mask::nine_points>{});
      default: return f(T{}, mask_constant<mask::cross>{});
    }
  });
}

constexpr std::uint64_t parts_of(std::uint64_t count, std::uint64_t size) { return (count + size - 1) / size; }

/// Why a grid of so many groups cannot be launched; empty if it can.
inline std::string too_many_groups(std::uint64_t groups) {
  return groups <= 0x7fffffff ? "" : "it needs more groups than a launch has";
}

}  // namespace tilewise::impl::diffuse
