// SPDX-License-Identifier: Apache-2.0
// The reduction of an array, or of each row or column of a matrix, in the pairwise order.
#pragma once

#include <tilewise/call.hpp>

namespace tilewise {

/// What `reduce` computes, where and how.
struct reduce_options {
  tilewise::op op = tilewise::op::sum;          ///< the operator that combines the elements
  number init = {};                             ///< the first operand, if given
  std::optional<tilewise::device> device = {};  ///< for host data (default: the CPU); arrays use their own device
  std::string_view variant = {};                ///< force one, such as "two_phase"; default: chosen
  std::string_view tuning = {};                 ///< such as "group_size=256"; never changes a bit
};

namespace detail {

/// Computes few elements, see are_few(), on the calling thread, with one of the four operators.
template <class T>
TILEWISE_API T reduce_few(const T* values, std::uint64_t count, op operation, const number& init);

inline void reduce(const argument& in, const argument& out, const reduce_options& options) {
  const setting settings[]{{"op", static_cast<unsigned>(options.op)}};
  const named_number numbers[]{{"init", options.init}};
  call({.algorithm = in.which ? "reduce_axis" : "reduce",
        .in = {&in, 1},
        .out = {&out, 1},
        .settings = settings,
        .numbers = numbers},
       options);
}

/// Not inlined, so that a call of few elements does not pay for it.
template <class In>
[[gnu::noinline]] element_of<In> reduce_many(const In& in, const reduce_options& options) {
  element_of<In> result;
  reduce(argument_for("the input", in),
         {.name = "the result", .type = dtype_of<element_of<In>>, .size = 1, .host = &result}, options);
  return result;
}

}  // namespace detail

/// Combines all elements with the operator; the result has the same bits on every device, with every variant and
/// tuning. The order is P(n) of docs/order.md: a balanced tree over each aligned block of 2^k elements, then the blocks
/// from left to right. With `init`: init + P(n). Without elements the result is `init`, else 0 for a sum and 1 for a
/// product; min and max throw `invalid_argument`. A NaN result is the canonical NaN. Waits for the value of an array.
template <plain_operand In>
element_of<In> reduce(const In& in, const reduce_options& options = {}) {
  if constexpr (host_range<In>)
    if (const auto* values = detail::data_of(in);
        detail::is_left_open(options) && options.op <= op::max && detail::are_few(values, std::ranges::size(in)))
      return detail::reduce_few(values, std::ranges::size(in), options.op, options.init);
  return detail::reduce_many(in, options);
}

/// Reduces each row or column of a matrix to a value, with the bits of `reduce` of that row or column; `init` applies
/// to each. `values` has one element for each and must not overlap the matrix. Rows or columns without elements give
/// the value of an empty reduction; for min and max without `init` that is `invalid_argument`. Asynchronous on a
/// device. Throws before it writes anything.
template <operand In, output_beside<In> Out>
requires(detail::is_lines<In>&& plain_operand<std::remove_cvref_t<Out>>) void reduce(
    const In& in, Out&& values, const reduce_options& options = {}) {
  detail::reduce(detail::argument_for("A", in), detail::argument_for("the values", values), options);
}
template <operand In>
requires detail::is_lines<In>
auto reduce(const In& in, const reduce_options& options = {}) {
  auto values = detail::result_beside<element_of<In>>(in, lines_of(in.layout, in.which));
  tilewise::reduce(in, values, options);
  return values;
}

/// The same with an operator and no other options.
template <operand In>
auto reduce(const In& in, op operation) {
  return tilewise::reduce(in, reduce_options{.op = operation});
}

TILEWISE_REFUSE_OTHERS(reduce)

}  // namespace tilewise
