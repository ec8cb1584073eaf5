// SPDX-License-Identifier: Apache-2.0
// Host data that a call takes: any contiguous range of elements, such as a std::vector, std::array or std::span.
#pragma once

#include <tilewise/error.hpp>
#include <tilewise/types.hpp>

#include <ranges>
#include <span>
#include <vector>

namespace tilewise {

/// Used only in the headers: the type of an operand's elements.
template <class Operand>
struct element_type {};
/// The type of a range's elements.
template <std::ranges::range Range>
struct element_type<Range> {
  using type = std::ranges::range_value_t<Range>;  ///< of a range
};

/// The type of the elements of a range, an array, or a matrix that `along` makes.
template <class Operand>
using element_of = typename element_type<std::remove_cvref_t<Operand>>::type;

/// Contiguous elements on the host; the constraint `host_range<T>` asks for elements of type T.
template <class Range, class T = element_of<Range>>
concept host_range = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> && element<T> &&
    std::same_as<element_of<Range>, T>;

/// A writable host range that outlives the call: a variable, or a view such as std::span.
template <class Range, class T = element_of<Range>>
concept host_output = host_range<Range, T> && std::ranges::borrowed_range<Range> &&
    !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<Range>>>;

/// A host range through which nothing can be written, such as a const vector.
template <class Range>
concept read_only_range = host_range<Range> && !host_output<const Range&>;

/// Memory for a result of `count` elements. Throws `out_of_memory`.
template <element T>
std::vector<T> host_result(std::uint64_t count) {
  try {
    return std::vector<T>(count);
  } catch (const std::exception&) {  // bad_alloc, length_error
    throw error(errc::out_of_memory, "there is no memory for a result of " + std::to_string(count) + " elements");
  }
}

}  // namespace tilewise
