// SPDX-License-Identifier: Apache-2.0
// The reduction of each segment of an array, in the pairwise order.
#pragma once

#include <tilewise/reduce.hpp>

namespace tilewise {

/// Where segments begin and end, beside an operand `In`: 64-bit integers, signed or not, on the same side.
template <class X, class In>
concept offsets_beside =
    plain_operand<X> && std::integral<element_of<X>> && sizeof(element_of<X>) == 8 && detail::lie_alike<X, In>;

namespace detail {

/// Unsigned offsets are read as signed ones, and messages show them so: those that differ lie beyond every array.
template <class Offsets>
argument offsets_argument(const Offsets& offsets) {
  argument made = argument_for("the offsets", offsets);
  made.type = dtype::i64;
  return made;
}

inline void segment_reduce(const argument& x, const argument& offsets, const argument& values,
                           const reduce_options& options) {
  const argument in[]{x, offsets};
  const setting settings[]{{"op", static_cast<unsigned>(options.op)}};
  const named_number numbers[]{{"init", options.init}};
  call({.algorithm = "segment_reduce", .in = in, .out = {&values, 1}, .settings = settings, .numbers = numbers},
       options);
}

}  // namespace detail

/// values[s] = reduce(x[offsets[s] .. offsets[s + 1])), with the bits that `reduce` gives for that segment alone.
/// `offsets` are those of a CSR matrix: one more than segments, from 0 to the number of elements, never falling; others
/// are `invalid_argument`, which names the place. An empty segment gives `init`, else 0 for a sum and 1 for a product;
/// for min and max without `init` it is `invalid_argument`. `values` shares no memory with the others. Throws before it
/// writes anything; on a device it waits until the offsets have been checked.
template <plain_operand In, offsets_beside<In> Offsets, output_beside<In> Out>
void segment_reduce(const In& x, const Offsets& offsets, Out&& values, const reduce_options& options = {}) {
  detail::segment_reduce(detail::argument_for("the input", x), detail::offsets_argument(offsets),
                         detail::argument_for("the values", values), options);
}
/// Returns the values.
template <plain_operand In, offsets_beside<In> Offsets>
auto segment_reduce(const In& x, const Offsets& offsets, const reduce_options& options = {}) {
  const std::uint64_t count = detail::offsets_argument(offsets).size;
  auto values = detail::result_beside<element_of<In>>(x, count == 0 ? 0 : count - 1);
  tilewise::segment_reduce(x, offsets, values, options);
  return values;
}

template <class In, class Offsets, class... More>
requires(plain_operand<In>&& operand<Offsets> && (!offsets_beside<Offsets, In>))  //
    detail::refused segment_reduce(const In&, const Offsets&, const More&...) {
  static_assert(sizeof(Offsets) == 0,
                "offsets are integers of 64 bits, on the host or on a device as the input is: convert or upload them");
  return {};
}
template <class In, class Offsets, class Out>
requires(offsets_beside<Offsets, In>&& detail::is_data<std::remove_cvref_t<Out>> && (!output_beside<Out, In>))  //
    detail::refused segment_reduce(const In&, const Offsets&, Out&&, const reduce_options& = {}) {
  static_assert(sizeof(Offsets) == 0,
                "the output is const or temporary, or has another type or lies elsewhere than the input");
  return {};
}
TILEWISE_REFUSE_OTHERS(segment_reduce)

}  // namespace tilewise
