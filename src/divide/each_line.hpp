// SPDX-License-Identifier: Apache-2.0
// Computes the lines (rows or columns) of a matrix one after another, each like a separate call.
#pragma once

#include "registry/choose.hpp"
#include "registry/matrix_shape.hpp"
#include "registry/variant.hpp"

namespace tilewise::divide {

using registry::lines, registry::problem;

/// Why run_each_line cannot run: no variant on this device supports a line. Empty if it can.
inline std::string each_line_unsupported(const problem& of_line, const backend::device& on) {
  try {
    static_cast<void>(registry::choose_silently(of_line, on));
    return "";
  } catch (const error& e) {
    return e.what();
  }
}

/// `of_line` is the problem of a single line. The elements of a line must be contiguous in the input and in the output.
inline void run_each_line(const problem& of_line, const lines& from, const lines& to, const registry::bindings& where,
                          backend::queue& q) {
  const registry::choice how = registry::choose(of_line, q.device(), {});
  const std::uint64_t size = size_of(of_line.type);
  for (std::uint64_t line = 0; line < from.count; ++line)
    how.variant->run(of_line,
                     {.in = {where.in[0].at(line * from.line * size, from.length * size)},
                      .out = {where.out[0].at(line * to.line * size, to.length * size)}},
                     how.tuning, q);
}

}  // namespace tilewise::divide
