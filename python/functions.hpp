// SPDX-License-Identifier: Apache-2.0
// What the functions that compute have in common: their output, their options, and how a call is made.
#pragma once

#include "operand.hpp"

namespace tilewise::python {

using py::arg;
using handle = const py::object&;

/// Waits for results that another library's stream could use too early.
template <class... Lent>
void hand_over(const lent& first, const Lent&... others) {
  if (!first.memory.there || (first.own_stream && (others.own_stream && ...))) return;
  without_interpreter([&] { first.memory.there->finish(); });
}

/// The output of a call: `out`, or a new array of the first operand's kind, with this type and shape.
struct target {
  target(handle out, const char* name, const lent& first, dtype type, const dimensions& shape,
         rows of_matrix = rows::packed)
      : array(out.is_none() ? new_like(first, type, shape) : out), to(array, name, access::write, &first, of_matrix) {
    to.require(type, shape);
    if (!out.is_none() && !to.is_buffer()) objects().frameworks.attr("written")(out);
  }

  const py::object array;
  const lent to;
};

/// Makes a call during which other Python threads run, in the turn of its device.
template <class Call>
void compute(const lent& first, const placement& where, const Call& call) {
  without_interpreter([&] { in_turn(first.memory, where, call); });
}

/// An algorithm's options that say where and how.
template <class Options>
Options options_at(const placement& where) {
  Options options;
  options.device = where.device;
  options.variant = where.variant;
  options.tuning = where.tuning;
  return options;
}
/// Makes the call and returns its output when it is ready: `out`, or a new array of this type and shape.
template <class Call>
py::object written_to(handle out, const lent& in, dtype type, const dimensions& shape, rows of_matrix,
                      const placement& where, const Call& call) {
  const target result(out, "out", in, type, shape, of_matrix);
  compute(in, where, [&] { call(result.to); });
  hand_over(in, result.to);
  return result.array;
}

/// The options that every function takes last.
template <class Function, class... Arguments>
void add(py::module_& to, const char* name, Function function, const char* documentation, const Arguments&... own) {
  to.def(name, function, documentation, own..., arg("device") = py::none(), arg("variant") = py::none(),
         arg("tuning") = py::none());
}

}  // namespace tilewise::python
