// SPDX-License-Identifier: Apache-2.0
// The diffusion benchmark: explicit time steps of a field between two fixed strips.
#pragma once

#include <tilewise/array.hpp>
#include <tilewise/error.hpp>
#include <tilewise/export.hpp>

#include <optional>

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

/// Computes the field after all steps into `result`. The strips are set before each step, not after the last one.
/// `field` and `result` are row-major, rows x columns, and must not overlap. Steps may be split over several calls: the
/// bits are the same. With zero steps, `result` is a copy. Throws `invalid_argument` before it writes anything.
template <field_element T>
TILEWISE_API void diffuse(std::span<const T> field, std::span<T> result, const diffusion& problem,
                          const diffuse_options& options = {});

/// The same on a device, asynchronous in its queue.
template <field_element T>
TILEWISE_API void diffuse(const array<T>& field, array<T>& result, const diffusion& problem,
                          const diffuse_options& options = {});

template <host_range Field, host_output<element_of<Field>> Result>
void diffuse(const Field& field, Result&& result, const diffusion& problem, const diffuse_options& options = {}) {
  tilewise::diffuse(as_input(field), as_output(result), problem, options);
}
template <host_range Field>
std::vector<element_of<Field>> diffuse(const Field& field, const diffusion& problem,
                                       const diffuse_options& options = {}) {
  auto result = host_result<element_of<Field>>(std::ranges::size(field));
  tilewise::diffuse(as_input(field), as_output(result), problem, options);
  return result;
}
template <field_element T>
array<T> diffuse(const array<T>& field, const diffusion& problem, const diffuse_options& options = {}) {
  array<T> result = allocate_like(field);
  tilewise::diffuse(field, result, problem, options);
  return result;
}

}  // namespace tilewise
