// SPDX-License-Identifier: Apache-2.0
// What the functions on segments of an array take.
#pragma once

#include "functions.hpp"

namespace tilewise::python {

/// Offsets as the library reads them: unsigned ones as signed, since those that differ lie beyond every array.
inline detail::argument as_signed(const lent& offsets) {
  detail::argument made = offsets.memory.as("the offsets");
  made.type = dtype::i64;
  return made;
}

/// A caller's array and offsets of its segments, both one-dimensional.
struct lent_segments {
  py::object offsets_as_given;
  lent x, offsets;

  lent_segments(handle a, handle any_offsets, const char* function, const char* name = "a")
      : offsets_as_given(objects().frameworks.attr("as_offsets")(any_offsets)),
        x(a, name),
        offsets(offsets_as_given, "offsets", access::read, &x) {
    x.require_rank(1, function);
    offsets.require_rank(1, function);
    if (offsets.memory.type != dtype::u64) offsets.require_type(dtype::i64);
  }
  std::uint64_t count() const { return offsets.memory.count == 0 ? 0 : offsets.memory.count - 1; }
};

}  // namespace tilewise::python
