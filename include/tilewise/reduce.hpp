// SPDX-License-Identifier: Apache-2.0
// The reduction of an array in the pairwise order.
#pragma once

#include <tilewise/array.hpp>
#include <tilewise/error.hpp>
#include <tilewise/export.hpp>

#include <optional>

namespace tilewise {

/// Where and how `reduce` computes.
struct reduce_options {
  op operation = op::sum;                       ///< what elements are folded with
  std::optional<tilewise::device> device = {};  ///< of host data, default: the CPU; of arrays only their own
  std::string_view variant = {};                ///< force one, such as "two_phase"; default: chosen
  std::string_view tuning = {};                 ///< such as "group_size=256"; never changes a bit
};

/// P(n) of order.md: aligned blocks of 2^k elements as balanced trees, folded from the left. With `init`: init + P(n).
/// The empty reduction is `init`, else 0 for a sum and 1 for a product; for min and max it is `invalid_argument`.
/// The same bits on every device, with every variant and tuning. A NaN result is the canonical quiet NaN.
template <scalar T>
TILEWISE_API T reduce(std::span<const T> values, const reduce_options& options = {});
template <scalar T>
TILEWISE_API T reduce(std::span<const T> values, std::type_identity_t<T> init, const reduce_options& options = {});
/// The same for data on a device; waits for the value.
template <scalar T>
TILEWISE_API T reduce(const array<T>& values, const reduce_options& options = {});
template <scalar T>
TILEWISE_API T reduce(const array<T>& values, std::type_identity_t<T> init, const reduce_options& options = {});

template <host_range Range>
element_of<Range> reduce(const Range& values, const reduce_options& options = {}) {
  return tilewise::reduce(as_input(values), options);
}
template <host_range Range>
element_of<Range> reduce(const Range& values, element_of<Range> init, const reduce_options& options = {}) {
  return tilewise::reduce(as_input(values), init, options);
}

}  // namespace tilewise
