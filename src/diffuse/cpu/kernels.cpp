// SPDX-License-Identifier: Apache-2.0
// What:   one step of a row with vectors; compiled once for each x86-64 level.
// Order:  mask.hpp.
// Shape:  one vector of neighbouring elements at a time; the rest of the row is one vector of fewer elements.
// Limits: none.
// Twins:  serial.cpp.
#include "diffuse/cpu/kernels.hpp"

#include "backend/cpu/vector.hpp"

#include <bit>

namespace tilewise::impl::diffuse::TILEWISE_LEVEL {

namespace {

namespace simd = backend::cpu::TILEWISE_LEVEL;

/// Loads all lanes of a vector from an array.
template <class T>
struct whole {
  simd::vector<T> load(const T* from) const { return simd::load(from); }
  void store(T* to, simd::vector<T> v) const { simd::store(to, v); }
};

/// Loads only the first lanes of a vector.
template <class T>
struct some {
  unsigned count;
  simd::vector<T> load(const T* from) const { return simd::load_first(from, count); }
  void store(T* to, simd::vector<T> v) const { simd::store_first(to, v, count); }
};

template <class T>
struct wide_weights {
  simd::vector<T> centre, side_x, side_y, corner, far_x, far_y, rate;

  explicit wide_weights(const weights<T>& w)
      : centre(simd::broadcast(w.centre)),
        side_x(simd::broadcast(w.side_x)),
        side_y(simd::broadcast(w.side_y)),
        corner(simd::broadcast(w.corner)),
        far_x(simd::broadcast(w.far_x)),
        far_y(simd::broadcast(w.far_y)),
        rate(simd::broadcast(w.rate)) {}
};

/// A vector of elements from `here` on, and access to its neighbours.
template <class T, mask Mask, class Lanes>
struct neighbours {
  const T* const* rows;
  std::uint64_t here;
  Lanes lanes;

  TILEWISE_KERNEL_PART simd::vector<T> operator()(int dy, int dx) const {
    return lanes.load(rows[static_cast<int>(radius_of(Mask)) + dy] + here + dx);
  }
};

template <class T, mask Mask, bool Last>
void step_row(const T* const* rows, T* to, std::uint64_t count, const weights<T>& narrow) {
  const wide_weights<T> w(narrow);
  const T* around[2 * radius_of(Mask) + 1];  // a copy that no store can change, so it stays in registers
  for (unsigned k = 0; k <= 2 * radius_of(Mask); ++k) around[k] = rows[k];
  const auto step = [&](std::uint64_t i, auto lanes) [[gnu::always_inline]] {
    const simd::vector<T> next =
        stepped<Mask, plain_arithmetic>(w, neighbours<T, Mask, decltype(lanes)>{around, i, lanes});
    lanes.store(to + i, Last ? simd::canonical<T>(next) : next);
  };
  // A load across two cache lines costs twice as much, a store even more. So the first vector ends at the end of a
  // line.
  const std::uint64_t past = reinterpret_cast<std::uintptr_t>(to) % simd::vector_bytes / sizeof(T);
  std::uint64_t i = past == 0 ? 0 : std::uint64_t{simd::lanes<T>} - past;
  if (i >= count) i = 0;
  if (i != 0) step(0, some<T>{static_cast<unsigned>(i)});
  for (; i + simd::lanes<T> <= count; i += simd::lanes<T>) step(i, whole<T>{});
  if (i < count) step(i, some<T>{static_cast<unsigned>(count - i)});
}

/// Whether the magnitude of a value is huge_value or more, or it is NaN. Adding a constant to the bits without the sign
/// sets the sign bit exactly for these values.
template <class T>
bool has_huge(const T* row, std::uint64_t count) {
  using bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  constexpr bits sign = bits{1} << (8 * sizeof(T) - 1), beyond = sign - std::bit_cast<bits>(huge_value<T>);
  bits carries = 0;
  for (std::uint64_t i = 0; i < count; ++i) carries |= (std::bit_cast<bits>(row[i]) & ~sign) + beyond;
  return (carries & sign) != 0;
}

template <class T, mask Mask>
constexpr cpu_kernels<T> kernels_of{step_row<T, Mask, false>, step_row<T, Mask, true>, has_huge<T>};

}  // namespace

template <class T>
const cpu_kernels<T>& kernels(mask m) {
  switch (m) {
    case mask::five_points: return kernels_of<T, mask::five_points>;
    case mask::nine_points: return kernels_of<T, mask::nine_points>;
    case mask::scaled_five_points: return kernels_of<T, mask::scaled_five_points>;
    default: return kernels_of<T, mask::cross>;
  }
}

template const cpu_kernels<float>& kernels<float>(mask);
template const cpu_kernels<double>& kernels<double>(mask);

}  // namespace tilewise::impl::diffuse::TILEWISE_LEVEL
