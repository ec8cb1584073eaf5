// SPDX-License-Identifier: Apache-2.0
// The diffusion benchmark: explicit time steps of a field between two fixed strips.
#pragma once

#include <tilewise/call.hpp>

namespace tilewise {

/// The element type of a field.
template <class T>
concept field_element = std::same_as<T, float> || std::same_as<T, double>;

/// The problem that `diffuse` computes. It repeats `steps` times:
///   the first column is set to 1 in rows below rows / 2, the last one in the others;
///   lap = the Laplacian by the mask, row by row, each product and sum rounded; beyond an edge, the edge's value holds;
///   field = field + rate * lap.
/// The sizes do not count ghost cells. The problem is HiPerC's (https://github.com/usnistgov/hiperc), whose input files
/// do count them: nx = columns + 2 for 3x3 masks, columns + 4 for 5x5.
struct diffusion {
  std::uint64_t rows;       ///< from top to bottom
  std::uint64_t columns;    ///< from left to right
  std::uint64_t steps = 1;  ///< number of time steps
  unsigned mask = 53;       ///< 53: 3x3, 5 points; 93: 3x3, 9 points; 95: 5x5, 9 points, a cross
  double dx = 0.5;          ///< distance between columns
  double dy = 0.5;          ///< distance between rows
  double rate = 0.00625;    ///< time step times diffusivity
};

/// The largest rate at which the steps are stable: they amplify no wave of the field.
/// Throws `invalid_argument` if the mask is unknown, or if dx and dy give no finite rate.
TILEWISE_API double largest_stable_rate(const diffusion& problem);

/// Where and how `diffuse` computes.
struct diffuse_options {
  std::optional<tilewise::device> device = {};  ///< for host data (default: the CPU); arrays use their own device
  std::string_view variant = {};                ///< force one, such as "temporal"; default: chosen
  std::string_view tuning = {};                 ///< never changes a bit
  bool allow_unstable = false;                  ///< compute even if the rate exceeds largest_stable_rate()
};

namespace detail {

inline void diffuse(argument field, const argument& result, const diffusion& problem, const diffuse_options& options) {
  field.of = matrix_layout(problem.rows, problem.columns);
  const named_number numbers[]{
      {"steps", problem.steps}, {"mask", problem.mask}, {"dx", problem.dx}, {"dy", problem.dy}, {"rate", problem.rate}};
  call({.algorithm = "diffuse",
        .in = {&field, 1},
        .out = {&result, 1},
        .numbers = numbers,
        .allow_unstable = options.allow_unstable},
       options);
}

}  // namespace detail

/// Computes the field after all steps into `result`. The strips are set before each step, not after the last one.
/// `field` and `result` are row-major, rows x columns, and must not overlap. Steps may be split over several calls: the
/// bits are the same. With zero steps, `result` is a copy. Asynchronous on a device. Throws `invalid_argument` before
/// it writes anything.
template <plain_operand Field, output_beside<Field> Result>
requires field_element<element_of<Field>>
void diffuse(const Field& field, Result&& result, const diffusion& problem, const diffuse_options& options = {}) {
  detail::diffuse(detail::argument_for("the field", field), detail::argument_for("the result", result), problem,
                  options);
}
/// Returns the result.
template <plain_operand Field>
requires field_element<element_of<Field>>
auto diffuse(const Field& field, const diffusion& problem, const diffuse_options& options = {}) {
  auto result = detail::result_like(field);
  tilewise::diffuse(field, result, problem, options);
  return result;
}

TILEWISE_REFUSE_OTHERS(diffuse)

}  // namespace tilewise
