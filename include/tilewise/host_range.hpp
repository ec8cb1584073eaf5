// SPDX-License-Identifier: Apache-2.0
// How to pass host data, and the forms of a call that every algorithm has.
//
//   f(in, out)   computes into existing memory
//   y = f(in)    returns a new std::vector, or array for arrays; a reduction returns its value; for sort: sorted
//   f(x)         in place: sort, sort_axis, sort_by_key. For a scan in place, pass one range as in and out.
//
// Host data is any contiguous range of elements: std::vector, std::array, std::span or a subrange. In each header, the
// functions on spans and on arrays compute; the others call these. Options are the last argument.
#pragma once

#include <tilewise/error.hpp>
#include <tilewise/types.hpp>

#include <ranges>
#include <span>
#include <vector>

namespace tilewise {

/// The type of an element.
template <class Range>
using element_of = std::ranges::range_value_t<Range>;

/// Contiguous elements on the host; the constraint `host_range<T>` asks for elements of type T.
template <class Range, class T = element_of<Range>>
concept host_range = std::ranges::contiguous_range<Range> && scalar<T> && std::same_as<element_of<Range>, T>;

/// A writable host range that outlives the call: a variable, or a view such as std::span.
template <class Range, class T = element_of<Range>>
concept host_output = host_range<Range, T> && std::ranges::borrowed_range<Range> &&
    !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<Range>>>;

/// A view of `values` to read from.
template <host_range Range>
std::span<const element_of<Range>> as_input(const Range& values) {
  return std::span<const element_of<Range>>(values);
}
/// A view of `values` to write to.
template <host_output Range>
std::span<element_of<Range>> as_output(Range&& values) {
  return std::span<element_of<Range>>(values);
}

/// Memory for a result of `count` elements. Throws `out_of_memory`.
template <scalar T>
std::vector<T> host_result(std::uint64_t count) {
  try {
    return std::vector<T>(count);
  } catch (const std::exception&) {  // bad_alloc, length_error
    throw error(errc::out_of_memory, "there is no memory for a result of " + std::to_string(count) + " elements");
  }
}

}  // namespace tilewise
