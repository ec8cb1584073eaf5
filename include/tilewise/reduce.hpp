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
  op operation = op::sum;                       ///< the operator that combines the elements
  std::optional<tilewise::device> device = {};  ///< for host data (default: the CPU); arrays use their own device
  std::string_view variant = {};                ///< force one, such as "two_phase"; default: chosen
  std::string_view tuning = {};                 ///< such as "group_size=256"; never changes a bit
};

/// Combines all elements with the operator; the result has the same bits on every device, with every variant and
/// tuning. The order is P(n) of docs/order.md: a balanced tree over each aligned block of 2^k elements, then the blocks
/// from left to right. With `init`: init + P(n). Without elements the result is `init`, else 0 for a sum and 1 for a
/// product; min and max throw `invalid_argument`. A NaN result is the canonical NaN.
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
