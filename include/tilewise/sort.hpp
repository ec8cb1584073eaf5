// SPDX-License-Identifier: Apache-2.0
// Stable sorts of keys, of keys with values, of indices, and of each row or column of a matrix.
#pragma once

#include <tilewise/call.hpp>

namespace tilewise {

/// Ascending puts -0.0 before +0.0 and all NaNs last, ordered by their bits. Descending is the reverse, so NaNs come
/// first. Both are stable: equal keys keep the order of the input.
enum class sort_order : std::uint8_t { ascending, descending };

/// What `sort` computes, where and how.
struct sort_options {
  sort_order order = sort_order::ascending;     ///< ascending or descending
  std::optional<tilewise::device> device = {};  ///< for host data (default: the CPU); arrays use their own device
  std::string_view variant = {};                ///< force one, such as "radix"; default: chosen
  std::string_view tuning = {};                 ///< never changes a bit
};

namespace detail {

template <class Keys, class Values>
concept may_be_sorted_together = plain_operand<Keys> && plain_operand<Values> && lie_alike<Keys, Values>;

/// What a sort moves along with each key, in the order of its setting "payload".
enum class sort_payload : std::uint8_t { none, values32, values64, indices };

/// Sorts few keys on the calling thread. Returns false, and leaves it to call(), if it is not for this shortcut: many
/// keys or none, null pointers, memory that overlaps in part, another floating-point mode.
template <class T>
TILEWISE_API bool sort_few(const T* in, T* out, std::uint64_t count, sort_order order);

inline void sort(std::span<const argument> in, std::span<const argument> out, sort_payload payload,
                 const sort_options& options) {
  const setting settings[]{{"order", static_cast<unsigned>(options.order)},
                           {"payload", static_cast<unsigned>(payload)}};
  const bool is_of_lines = in[0].which.has_value();
  call({.algorithm = is_of_lines ? "sort_axis" : "sort",
        .in = in,
        .out = out,
        .settings = std::span(settings).first(is_of_lines ? 1 : 2)},
       options);
}

inline void sort_by_key(const argument& keys, const argument& values, const argument& keys_out,
                        const argument& values_out, const sort_options& options) {
  const argument in[]{keys, values}, out[]{keys_out, values_out};
  sort(in, out, size_of(values.type) == 4 ? sort_payload::values32 : sort_payload::values64, options);
}

inline void argsort(const argument& keys, const argument& indices, const sort_options& options) {
  const argument results[]{
      {.name = "the sorted keys", .type = keys.type, .size = keys.size, .on = keys.on, .is_unwanted = true}, indices};
  sort({&keys, 1}, results, sort_payload::indices, options);
}

/// Not inlined, so that a call of few keys does not pay for it.
template <class In, class Out>
[[gnu::noinline]] void sort_many(const In& in, const Out& out, const sort_options& options) {
  const argument from = argument_for(input_name<In>, in), to = argument_for("the output", out);
  sort({&from, 1}, {&to, 1}, sort_payload::none, options);
}

}  // namespace detail

/// Writes the sorted elements of `in` to `out`. `out` has the size of `in`; it is either `in` itself or does not
/// overlap it. Otherwise throws `invalid_argument`. Keys keep all their bits, NaN payloads included. Asynchronous on a
/// device. Of a matrix that along() makes, each row or column is sorted by itself; the output has as many rows and
/// columns. Elements between its rows are not changed. Throws before it writes anything.
template <operand In, output_beside<In> Out>
void sort(const In& in, Out&& out, const sort_options& options = {}) {
  if constexpr (host_range<In> && host_range<Out>)
    if (detail::is_left_open(options) && std::ranges::size(in) == std::ranges::size(out) &&
        detail::sort_few(detail::data_of(in), detail::data_of(out), std::ranges::size(in), options.order))
      return;
  detail::sort_many(in, out, options);
}
/// In place.
template <class Values>
requires operand<std::remove_cvref_t<Values>> && detail::is_writable<Values>
void sort(Values&& values, const sort_options& options = {}) { tilewise::sort(values, values, options); }
/// Returns the sorted elements. Those of a matrix have no gaps between the rows.
template <operand In>
auto sorted(const In& in, const sort_options& options = {}) {
  auto out = detail::result_like(in);
  tilewise::sort(in, out, options);
  return out;
}

/// Sorts the keys and moves each value with its key. All four operands have the same size; keys and values may be
/// sorted in place. Asynchronous on a device.
template <plain_operand Keys, plain_operand Values, output_beside<Keys> KeysOut, output_beside<Values> ValuesOut>
requires detail::may_be_sorted_together<Keys, Values>
void sort_by_key(const Keys& keys, const Values& values, KeysOut&& keys_out, ValuesOut&& values_out,
                 const sort_options& options = {}) {
  detail::sort_by_key(detail::argument_for("the keys", keys), detail::argument_for("the values", values),
                      detail::argument_for("the output of keys", keys_out),
                      detail::argument_for("the output of values", values_out), options);
}
/// In place.
template <class Keys, class Values>
requires detail::may_be_sorted_together<std::remove_cvref_t<Keys>, std::remove_cvref_t<Values>> &&
    detail::is_writable<Keys> && detail::is_writable<Values>
void sort_by_key(Keys&& keys, Values&& values, const sort_options& options = {}) {
  tilewise::sort_by_key(keys, values, keys, values, options);
}

/// indices[i] is the position in `in` of element i of the sorted order. Throws `invalid_argument` for more than 2^32
/// elements. Asynchronous on a device.
template <plain_operand In, output_beside<In, std::uint32_t> Out>
void argsort(const In& in, Out&& indices, const sort_options& options = {}) {
  detail::argsort(detail::argument_for("the input", in), detail::argument_for("the indices", indices), options);
}
template <plain_operand In>
auto argsort(const In& in, const sort_options& options = {}) {
  auto indices = detail::result_beside<std::uint32_t>(in, detail::argument_for("the input", in).size);
  tilewise::argsort(in, indices, options);
  return indices;
}

TILEWISE_REFUSE_OTHERS(sort)
TILEWISE_REFUSE_OTHERS(sorted)
TILEWISE_REFUSE_OTHERS(sort_by_key)
TILEWISE_REFUSE_OTHERS(argsort)

}  // namespace tilewise
