// SPDX-License-Identifier: Apache-2.0
// How diffusion is written as a registry::problem: shape {rows, columns, steps}, without ghosts; setting mask; the
// numbers dx, dy and rate are doubles for either type of field.
//
// A band of a larger field has the shape {rows, columns, steps, first, all}. It is stepped as a field of its own, but
// its strips are those of rows [first, first + rows) of a field with `all` rows. At an edge of the band that is not an
// edge of the field, each step makes `radius` more rows wrong. So a band must have steps * radius more rows there than
// are wanted.
//
// Ghosts need no memory. The original sets the strips, then copies the columns beside the edges outwards, and then the
// rows, corners included. So each ghost has the value of the field's nearest element: an index beyond an edge is
// clamped to the edge.
#pragma once

#include "base/ceil_div.hpp"
#include "diffuse/mask.hpp"
#include "registry/variant.hpp"

#include <tilewise/diffuse.hpp>

#include <algorithm>
#include <cmath>

namespace tilewise::impl::diffuse {

const registry::algorithm& diffuse_algorithm();
registry::problem describe(const detail::request& r);  // diffuse.cpp
extern const registry::division division;              // pieces.cpp

inline weights<double> weights_of(mask m, double dx, double dy, double rate) {
  const double both = dx * dx + dy * dy;
  switch (m) {
    case mask::five_points: return {-2.0 * both / (dx * dx * dy * dy), 1.0 / (dx * dx), 1.0 / (dy * dy), 0, 0, 0, rate};
    case mask::nine_points:
      return {-10.0 * both / (6.0 * dx * dx * dy * dy),
              4.0 / (6.0 * dx * dx),
              4.0 / (6.0 * dy * dy),
              1.0 / (6.0 * dx * dy),
              0,
              0,
              rate};
    default:
      return {-5.0 * both / (2.0 * dx * dx * dy * dy),
              4.0 / (3.0 * dx * dx),
              4.0 / (3.0 * dy * dy),
              0,
              -1.0 / (12.0 * dx * dx),
              -1.0 / (12.0 * dy * dy),
              rate};
  }
}

inline mask mask_of(const registry::problem& p) { return static_cast<mask>(p.setting[0]); }

inline weights<double> weights_of(const registry::problem& p) {
  return weights_of(mask_of(p), p.number[0].as<double>(), p.number[1].as<double>(), p.number[2].as<double>());
}

/// The weights in the field's type, computed in double and rounded once.
template <class T>
weights<T> weights_in(const registry::problem& p) {
  const weights<double> w = weights_of(p);
  return {static_cast<T>(w.centre), static_cast<T>(w.side_x), static_cast<T>(w.side_y), static_cast<T>(w.corner),
          static_cast<T>(w.far_x),  static_cast<T>(w.far_y),  static_cast<T>(w.rate)};
}

/// Weights divided by `side_x`, and a rate multiplied by it: the step stays the same. Only if `side_x` is a power of
/// two, so that both are exact. A step then needs no products for the sides: 6 operations instead of 11.
template <class T>
weights<T> scaled_weights(const weights<T>& w) {
  return {T(-4), T(1), T(1), 0, 0, 0, w.rate * w.side_x};
}

/// Whether `scaled_weights` is exact for these weights, and the rate is so small that no value grows. The caller must
/// also check that no value is huge (`huge_value`): where the definition overflows, the scaled form may not.
template <class T>
bool can_scale(mask m, const weights<T>& w) {
  int exponent = 0;
  return m == mask::five_points && std::frexp(w.side_x, &exponent) == T(0.5) && w.side_y == w.side_x &&
         w.centre == -4 * w.side_x && w.side_x >= 1 && w.side_x <= 65536 && std::isnormal(w.rate) &&
         w.rate * w.side_x <= T(0.25);
}

/// The largest stable rate: at this rate and below, no wave of the field grows.
double largest_stable_rate(const registry::problem& p);

/// The problem for a call, not yet checked, except that an unknown mask throws `invalid_argument`.
inline registry::problem problem_of(const diffusion& d, dtype type) {
  registry::problem p{.what = &diffuse_algorithm(), .type = type, .shape = {d.rows, d.columns, d.steps}};
  registry::choose_setting(p, "mask", std::to_string(d.mask));
  p.number = {base::scalar_value::of(d.dx), base::scalar_value::of(d.dy), base::scalar_value::of(d.rate)};
  return p;
}

/// The mask as the original's loops traverse it: a row-major square, zeros included.
template <class T>
std::vector<T> square_of(mask m, const weights<T>& w) {
  const std::uint64_t g = radius_of(m), width = 2 * g + 1;
  std::vector<T> taps(width * width);
  const auto at = [&](std::uint64_t row, std::uint64_t column) -> T& { return taps[row * width + column]; };
  at(g, g) = w.centre;
  at(g, g - 1) = at(g, g + 1) = w.side_x;
  at(g - 1, g) = at(g + 1, g) = w.side_y;
  if (m == mask::nine_points) at(0, 0) = at(0, 2) = at(2, 0) = at(2, 2) = w.corner;
  if (m == mask::cross) {
    at(g, 0) = at(g, 4) = w.far_x;
    at(0, g) = at(4, g) = w.far_y;
  }
  return taps;
}

/// Whether all weights are finite and not 0. They are unless dx or dy is extreme.
template <class T>
bool is_usable(mask m, const weights<T>& w) {
  const auto fine = [](T value) { return value != 0 && value - value == 0; };
  return fine(w.centre) && fine(w.side_x) && fine(w.side_y) && (m != mask::nine_points || fine(w.corner)) &&
         (m != mask::cross || (fine(w.far_x) && fine(w.far_y)));
}

/// The sizes by their usual names.
struct sizes {
  std::uint64_t rows, columns, steps;
  std::uint64_t first, all;  // a band's first row in its field, and the rows of that field

  explicit sizes(const registry::problem& p)
      : rows(p.shape[0]),
        columns(p.shape[1]),
        steps(p.shape[2]),
        first(p.shape.rank == 5 ? p.shape[3] : 0),
        all(p.shape.rank == 5 ? p.shape[4] : rows) {}
  std::uint64_t elements() const { return rows * columns; }
  bool is_band() const { return rows != all; }
  /// The first row that belongs to the right strip.
  std::uint64_t half() const { return std::min(rows, all / 2 - std::min(all / 2, first)); }
};

/// How many tiles of `size` elements cover `length` elements. Each tile includes a halo, which it reads but does not
/// write, except at the edges of the field.
inline std::uint64_t tiles_along(std::uint64_t length, std::uint64_t size, std::uint64_t halo) {
  return length <= size ? 1 : ceil_div(length - 2 * halo, size - 2 * halo);
}

/// Where pass `index` of `passes` reads from and writes to: it starts from the input, alternates between the workspace
/// and the output, and ends in the output.
struct stage {
  backend::memory from, to;

  stage(const registry::bindings& where, backend::memory workspace, std::uint64_t passes, std::uint64_t index)
      : from(index == 0 ? where.in[0] : side(where, workspace, passes - index)),
        to(side(where, workspace, passes - index - 1)) {}

 private:
  static backend::memory side(const registry::bindings& where, backend::memory workspace, std::uint64_t left) {
    return left % 2 == 0 ? where.out[0] : workspace;
  }
};

/// If there are no steps or no elements, copies the input to the output and returns true; else only returns false.
inline bool copies_only(const registry::problem& p, const registry::bindings& where, backend::queue& queue) {
  const sizes s(p);
  if (s.elements() != 0 && s.steps != 0) return false;
  if (s.elements() != 0) queue.copy(where.out[0], where.in[0], s.elements() * size_of(p.type));
  return true;
}

/// Whether the device has room for the field, the result and a workspace.
bool fits(const registry::problem& p, const device_info& on);

/// The most steps in one pass over a field that does not fit the device; at least one.
std::uint64_t steps_of_a_pass(const registry::problem& p, const device_info& on);

}  // namespace tilewise::impl::diffuse
