// SPDX-License-Identifier: Apache-2.0
// The skeleton of an algorithm: y[i] = -x[i].
#pragma once

#include <tilewise/call.hpp>

namespace tilewise {

namespace detail {

inline void skeleton(const argument& in, const argument& out, const placement& where) {
  call({.algorithm = "skeleton", .in = {&in, 1}, .out = {&out, 1}}, where);
}

}  // namespace detail

/// out[i] = -in[i]; the sign of a zero changes too, unsigned integers wrap, and a NaN is the canonical quiet NaN.
/// `out` has the size of `in` and is `in` itself or does not overlap it; another size is `invalid_argument`.
/// Asynchronous on a device.
template <plain_operand In, output_beside<In> Out>
void skeleton(const In& in, Out&& out, const placement& where = {}) {
  detail::skeleton(detail::argument_for("the input", in), detail::argument_for("the output", out), where);
}
/// Returns the results.
template <plain_operand In>
auto skeleton(const In& in, const placement& where = {}) {
  auto out = detail::result_like(in);
  tilewise::skeleton(in, out, where);
  return out;
}

TILEWISE_REFUSE_OTHERS(skeleton)

}  // namespace tilewise
