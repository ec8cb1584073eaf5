// SPDX-License-Identifier: Apache-2.0
// The descriptor of diffuse.
#include "base/lasting.hpp"
#include "diffuse/problem.hpp"
#include "registry/matrix_shape.hpp"

#include <algorithm>
#include <cmath>

namespace tilewise::impl::diffuse {

namespace {

using registry::extents;
using registry::operand;
using registry::problem;

constexpr std::array<registry::setting, 1> settings{{{"mask", mask_words}}};
constexpr std::array<std::string_view, 3> numbers{"dx", "dy", "rate"};

// No elements, one row or column, fields smaller than a mask, no steps; around one vector and one tile in both
// directions, with more steps than a pass has, and with a remainder. Bands with the left strip alone, the right one
// alone, and both.
constexpr std::array<extents, 41> edge_shapes{{{0, 0, 1},
                                               {0, 5, 3},
                                               {5, 0, 2},
                                               {1, 1, 0},
                                               {1, 1, 1},
                                               {1, 1, 5},
                                               {1, 2, 3},
                                               {2, 1, 3},
                                               {2, 2, 2},
                                               {3, 2, 4},
                                               {3, 3, 1},
                                               {4, 5, 0},
                                               {5, 4, 9},
                                               {7, 33, 3},
                                               {33, 7, 17},
                                               {8, 8, 8},
                                               {16, 17, 16},
                                               {31, 32, 33},
                                               {62, 62, 10},
                                               {64, 64, 1},
                                               {65, 63, 5},
                                               {13, 131, 6},
                                               {131, 13, 7},
                                               {127, 129, 9},
                                               {129, 31, 20},
                                               {13, 1031, 6},
                                               {1031, 13, 6},
                                               {257, 255, 4},
                                               {0, 5, 3, 2, 4},
                                               {5, 7, 3, 0, 5},
                                               {7, 1, 3, 2, 11},
                                               {20, 33, 9, 0, 50},
                                               {13, 131, 6, 40, 53},
                                               {30, 64, 5, 20, 50},
                                               {64, 300, 17, 100, 257},
                                               {129, 31, 20, 1, 400},
                                               {30, 300, 34},
                                               {301, 31, 35},
                                               {1, 3001, 8},
                                               {3001, 1, 8},
                                               {67, 130, 40}}};
constexpr std::array<extents, 3> quick_shapes{{{512, 512, 100}, {4096, 4096, 1}, {4096, 4096, 16}}};
constexpr std::array<extents, 8> normal_shapes{{{256, 256, 1000},
                                                {512, 512, 100},
                                                {512, 512, 1000},
                                                {1024, 1024, 100},
                                                {4096, 4096, 1},
                                                {4096, 4096, 16},
                                                {8192, 8192, 1},
                                                {8192, 8192, 32}}};

operand field(std::string_view name, const problem& p) {
  const sizes s(p);
  return {.name = name, .type = p.type, .count = s.elements(), .row = std::max<std::uint64_t>(1, s.columns)};
}
std::vector<operand> inputs(const problem& p) { return {field("field", p)}; }
std::vector<operand> outputs(const problem& p) { return {field("result", p)}; }

/// A product and a sum per tap (the first sum starts from +0), and a product and a sum for the step.
double operations(const problem& p) {
  const sizes s(p);
  return (2.0 * taps_of(mask_of(p)) + 2.0) * static_cast<double>(s.rows) * static_cast<double>(s.columns) *
         static_cast<double>(s.steps);
}

std::string invalid(const problem& p) {
  const sizes s(p);
  if (std::string why = registry::invalid_matrix("the field", {s.rows, s.columns}, p.type); !why.empty()) return why;
  if (s.first > s.all || s.rows > s.all - s.first)
    return "a band of " + std::to_string(s.rows) + " rows from row " + std::to_string(s.first) + " on is not within " +
           std::to_string(s.all) + " rows";
  const double dx = p.number[0].as<double>(), dy = p.number[1].as<double>(), rate = p.number[2].as<double>();
  if (!(dx > 0 && dy > 0 && rate >= 0 && std::isfinite(dx) && std::isfinite(dy) && std::isfinite(rate)))
    return "dx is " + to_string(p.number[0]) + ", dy " + to_string(p.number[1]) + " and the rate " +
           to_string(p.number[2]) + "; distances must be positive, the rate not negative, and all of them finite";
  const bool fits =
      p.type == dtype::f32 ? is_usable(mask_of(p), weights_in<float>(p)) : is_usable(mask_of(p), weights_of(p));
  return fits ? ""
              : "the mask for dx = " + to_string(p.number[0]) + " and dy = " + to_string(p.number[1]) +
                    " does not fit " + std::string(name_of(p.type)) + "; choose another unit of length";
}

std::string inadvisable(const problem& p) {
  const double stable = largest_stable_rate(p);
  return p.number[2].as<double>() <= stable
             ? ""
             : "the rate of " + to_string(p.number[2]) + " is unstable: the largest stable one is " +
                   to_string(base::scalar_value::of(stable)) + "; use a shorter time step, or allow it";
}

/// Sets the benchmark's numbers if none are given. Generated problems with an odd number of rows get different
/// distances for x and y, so that a test fails if x and y are exchanged.
void fit_numbers(problem& p) {
  p.number = {base::scalar_value::of(0.5), base::scalar_value::of(sizes(p).rows % 2 == 0 ? 0.5 : 0.75),
              base::scalar_value::of(0.00625)};
}

/// The most negative factor by which the mask scales a wave. One of the three shortest waves has it: neighbours along
/// x, along y, or along both have opposite signs.
double lowest_value(const weights<double>& w) {
  const auto on_wave = [&](double x, double y) {
    return w.centre + 2 * (x * w.side_x + y * w.side_y) + 4 * x * y * w.corner + 2 * (w.far_x + w.far_y);
  };
  return std::min({on_wave(-1, 1), on_wave(1, -1), on_wave(-1, -1)});
}

}  // namespace

double largest_stable_rate(const registry::problem& p) { return -2 / lowest_value(weights_of(p)); }

const registry::algorithm& diffuse_algorithm() {
  static const registry::algorithm& descriptor = base::lasting([] {
    return registry::algorithm{
        .name = "diffuse",
        .summary = "explicit steps of the HiPerC diffusion benchmark, any number per pass",
        .types = float_types,
        .settings = settings,
        .numbers = numbers,
        .edge_shapes = edge_shapes,
        .quick_shapes = quick_shapes,
        .normal_shapes = normal_shapes,
        .inputs = inputs,
        .outputs = outputs,
        .operations = operations,
        .invalid = invalid,
        .describe = describe,
        .inadvisable = inadvisable,
        .fit_numbers = fit_numbers,
        .divides = &division,
        .has_shorter_methods = true,  // points that weigh powers of two need fewer products
    };
  });
  return descriptor;
}

}  // namespace tilewise::impl::diffuse
