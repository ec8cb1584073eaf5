// SPDX-License-Identifier: Apache-2.0
// Stable sorts of each segment of an array: of keys, of keys with values, and of indices.
#pragma once

#include <tilewise/segment_reduce.hpp>
#include <tilewise/sort.hpp>

namespace tilewise {

namespace detail {

inline void segment_sort(std::span<const argument> in, std::span<const argument> out, sort_payload payload,
                         const sort_options& options) {
  const setting settings[]{{"order", static_cast<unsigned>(options.order)},
                           {"payload", static_cast<unsigned>(payload)}};
  call({.algorithm = "segment_sort", .in = in, .out = out, .settings = settings}, options);
}

inline void segment_sort(const argument& x, const argument& offsets, const argument& y, const sort_options& options) {
  const argument in[]{x, offsets};
  segment_sort(in, {&y, 1}, sort_payload::none, options);
}

inline void segment_sort_by_key(const argument& keys, const argument& values, const argument& offsets,
                                const argument& keys_out, const argument& values_out, const sort_options& options) {
  const argument in[]{keys, values, offsets}, out[]{keys_out, values_out};
  segment_sort(in, out, size_of(values.type) == 4 ? sort_payload::values32 : sort_payload::values64, options);
}

inline void segment_argsort(const argument& x, const argument& offsets, const argument& indices,
                            const sort_options& options) {
  const argument in[]{x, offsets};
  const argument out[]{{.name = "the sorted keys", .type = x.type, .size = x.size, .on = x.on, .is_unwanted = true},
                       indices};
  segment_sort(in, out, sort_payload::indices, options);
}

}  // namespace detail

/// y[offsets[s] .. offsets[s + 1]) = the sorted elements x[offsets[s] .. offsets[s + 1]), as `sort` orders them.
/// `offsets` are those of `segment_reduce`; others are `invalid_argument`, which names the place. Segments may be
/// empty. `y` has the size of `x`, and is either `x` itself or shares no memory with the others. Throws
/// `invalid_argument` before it writes anything; on a device it waits until the offsets have been checked.
template <plain_operand In, offsets_beside<In> Offsets, output_beside<In> Out>
void segment_sort(const In& x, const Offsets& offsets, Out&& y, const sort_options& options = {}) {
  detail::segment_sort(detail::argument_for("the input", x), detail::offsets_argument(offsets),
                       detail::argument_for("the output", y), options);
}
/// Returns the sorted segments.
template <plain_operand In, offsets_beside<In> Offsets>
auto segment_sort(const In& x, const Offsets& offsets, const sort_options& options = {}) {
  auto y = detail::result_like(x);
  tilewise::segment_sort(x, offsets, y, options);
  return y;
}

/// Sorts the keys of each segment, and moves each value with its key. All but the offsets have the same size; keys and
/// values may be sorted in place.
template <plain_operand Keys, plain_operand Values, offsets_beside<Keys> Offsets, output_beside<Keys> KeysOut,
          output_beside<Values> ValuesOut>
requires detail::may_be_sorted_together<Keys, Values>
void segment_sort_by_key(const Keys& keys, const Values& values, const Offsets& offsets, KeysOut&& keys_out,
                         ValuesOut&& values_out, const sort_options& options = {}) {
  detail::segment_sort_by_key(detail::argument_for("the keys", keys), detail::argument_for("the values", values),
                              detail::offsets_argument(offsets), detail::argument_for("the output of keys", keys_out),
                              detail::argument_for("the output of values", values_out), options);
}

/// The elements of segment s in order are x[offsets[s] + indices[i]] for i in offsets[s] .. offsets[s + 1]: an index
/// counts from its segment's begin. Throws `invalid_argument` for more than 2^32 elements.
template <plain_operand In, offsets_beside<In> Offsets, output_beside<In, std::uint32_t> Out>
void segment_argsort(const In& x, const Offsets& offsets, Out&& indices, const sort_options& options = {}) {
  detail::segment_argsort(detail::argument_for("the input", x), detail::offsets_argument(offsets),
                          detail::argument_for("the indices", indices), options);
}
/// Returns the indices.
template <plain_operand In, offsets_beside<In> Offsets>
auto segment_argsort(const In& x, const Offsets& offsets, const sort_options& options = {}) {
  auto indices = detail::result_beside<std::uint32_t>(x, detail::argument_for("the input", x).size);
  tilewise::segment_argsort(x, offsets, indices, options);
  return indices;
}

template <class In, class Offsets, class... More>
requires(plain_operand<In>&& operand<Offsets> && (!offsets_beside<Offsets, In>))  //
    detail::refused segment_sort(const In&, const Offsets&, const More&...) {
  static_assert(sizeof(Offsets) == 0,
                "offsets are integers of 64 bits, on the host or on a device as the input is: convert or upload them");
  return {};
}
template <class In, class Offsets, class Out>
requires(offsets_beside<Offsets, In>&& detail::is_data<std::remove_cvref_t<Out>> && (!output_beside<Out, In>))  //
    detail::refused segment_sort(const In&, const Offsets&, Out&&, const sort_options& = {}) {
  static_assert(sizeof(Offsets) == 0,
                "the output is const or temporary, or has another type or lies elsewhere than the input");
  return {};
}
TILEWISE_REFUSE_OTHERS(segment_sort)
TILEWISE_REFUSE_OTHERS(segment_sort_by_key)
TILEWISE_REFUSE_OTHERS(segment_argsort)

}  // namespace tilewise
