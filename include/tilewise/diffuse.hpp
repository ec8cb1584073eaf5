// SPDX-License-Identifier: Apache-2.0
// The diffusion benchmark: explicit steps of a field between two fixed strips.
#pragma once

#include <tilewise/array.hpp>
#include <tilewise/error.hpp>
#include <tilewise/export.hpp>

#include <optional>

namespace tilewise {

/// A type of fields.
template <class T>
concept field_element = std::same_as<T, float> || std::same_as<T, double>;

/// What is computed: `steps` times
///   the first column is set to 1 in rows below rows / 2, the last one in the others;
///   lap = the Laplacian by the mask, row by row, each product and sum rounded; beyond an edge, the edge's value holds;
///   field = field + rate * lap.
/// Sizes are those of the field without ghosts. The problem is that of HiPerC (https://github.com/usnistgov/hiperc),
/// whose files count the ghosts too: nx = columns + 2 with 3x3 masks, + 4 with 5x5.
struct diffusion {
  std::uint64_t rows;       ///< from top to bottom
  std::uint64_t columns;    ///< from left to right
  std::uint64_t steps = 1;  ///< how many to take
  unsigned mask = 53;       ///< 53: 3x3, 5 points; 93: 3x3, 9 points; 95: 5x5, 9 points, a cross
  double dx = 0.5;          ///< distance between columns
  double dy = 0.5;          ///< distance between rows
  double rate = 0.00625;    ///< time step times diffusivity
};

/// The largest rate for which the steps do not amplify any wave of the field.
/// Throws `invalid_argument` for an unknown mask, or for distances that give no finite one.
TILEWISE_API double largest_stable_rate(const diffusion& problem);

/// Where and how `diffuse` computes.
struct diffuse_options {
  std::optional<tilewise::device> device = {};  ///< of host data, default: the CPU; of arrays only their own
  std::string_view variant = {};                ///< force one, such as "temporal"; default: chosen
  std::string_view tuning = {};                 ///< never changes a bit
  bool allow_unstable = false;                  ///< compute even with a rate beyond the largest stable one
};

/// `result` is the field after the steps; the strips were set before the last one, not after it. Both are rows x
/// columns and row-major, and do not overlap. Some steps and then some more give the bits of all of them at once. Zero
/// steps copy. Throws `invalid_argument` before anything is touched.
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
