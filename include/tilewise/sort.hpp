// SPDX-License-Identifier: Apache-2.0
// Stable sorts of keys, of keys with values, and of indices.
#pragma once

#include <tilewise/array.hpp>
#include <tilewise/error.hpp>
#include <tilewise/export.hpp>

#include <optional>

namespace tilewise {

/// Ascending puts -0.0 before +0.0 and all NaNs last, ordered by their bits. Descending is the reverse, so NaNs come
/// first. Both are stable: equal keys keep the order of the input.
enum class sort_order : std::uint8_t { ascending, descending };

/// Where and how `sort` computes.
struct sort_options {
  sort_order order = sort_order::ascending;     ///< ascending or descending
  std::optional<tilewise::device> device = {};  ///< for host data (default: the CPU); arrays use their own device
  std::string_view variant = {};                ///< force one, such as "radix"; default: chosen
  std::string_view tuning = {};                 ///< never changes a bit
};

/// Writes the sorted elements of `in` to `out`. `out` has the size of `in`; it is either `in` itself or does not
/// overlap it. Otherwise throws `invalid_argument`. Keys keep all their bits, NaN payloads included.
template <scalar T>
TILEWISE_API void sort(std::span<const T> in, std::span<T> out, const sort_options& options = {});

/// Sorts the keys and moves each value with its key. All four ranges have the same size; keys and values may be sorted
/// in place.
template <scalar T, scalar V>
TILEWISE_API void sort_by_key(std::span<const T> keys, std::span<const V> values, std::span<T> keys_out,
                              std::span<V> values_out, const sort_options& options = {});

/// indices[i] is the position in `in` of element i of the sorted order. Throws `invalid_argument` for more than 2^32
/// elements.
template <scalar T>
TILEWISE_API void argsort(std::span<const T> in, std::span<std::uint32_t> indices, const sort_options& options = {});

/// The same on a device, asynchronous in its queue.
template <scalar T>
TILEWISE_API void sort(const array<T>& in, array<T>& out, const sort_options& options = {});
template <scalar T, scalar V>
TILEWISE_API void sort_by_key(const array<T>& keys, const array<V>& values, array<T>& keys_out, array<V>& values_out,
                              const sort_options& options = {});
template <scalar T>
TILEWISE_API void argsort(const array<T>& in, array<std::uint32_t>& indices, const sort_options& options = {});

// In place.
template <host_output Range>
void sort(Range&& values, const sort_options& options = {}) {
  const auto all = as_output(values);
  tilewise::sort(as_input(all), all, options);
}
template <scalar T>
void sort(array<T>& values, const sort_options& options = {}) {
  tilewise::sort(values, values, options);
}
template <host_output Keys, host_output Values>
void sort_by_key(Keys&& keys, Values&& values, const sort_options& options = {}) {
  const auto all_keys = as_output(keys);
  const auto all_values = as_output(values);
  tilewise::sort_by_key(as_input(all_keys), as_input(all_values), all_keys, all_values, options);
}
template <scalar T, scalar V>
void sort_by_key(array<T>& keys, array<V>& values, const sort_options& options = {}) {
  tilewise::sort_by_key(keys, values, keys, values, options);
}

template <host_range In, host_output<element_of<In>> Out>
void sort(const In& in, Out&& out, const sort_options& options = {}) {
  tilewise::sort(as_input(in), as_output(out), options);
}
template <host_range Keys, host_range Values, host_output<element_of<Keys>> KeysOut,
          host_output<element_of<Values>> ValuesOut>
void sort_by_key(const Keys& keys, const Values& values, KeysOut&& keys_out, ValuesOut&& values_out,
                 const sort_options& options = {}) {
  tilewise::sort_by_key(as_input(keys), as_input(values), as_output(keys_out), as_output(values_out), options);
}
template <host_range In, host_output<std::uint32_t> Out>
void argsort(const In& in, Out&& indices, const sort_options& options = {}) {
  tilewise::argsort(as_input(in), as_output(indices), options);
}

/// These return the sorted elements, or the indices, instead of writing them to an output.
template <host_range In>
std::vector<element_of<In>> sorted(const In& in, const sort_options& options = {}) {
  auto out = host_result<element_of<In>>(std::ranges::size(in));
  tilewise::sort(as_input(in), as_output(out), options);
  return out;
}
template <scalar T>
array<T> sorted(const array<T>& in, const sort_options& options = {}) {
  array<T> out = allocate_like(in);
  tilewise::sort(in, out, options);
  return out;
}
template <host_range In>
std::vector<std::uint32_t> argsort(const In& in, const sort_options& options = {}) {
  auto indices = host_result<std::uint32_t>(std::ranges::size(in));
  tilewise::argsort(as_input(in), as_output(indices), options);
  return indices;
}
template <scalar T>
array<std::uint32_t> argsort(const array<T>& in, const sort_options& options = {}) {
  array<std::uint32_t> indices = in.device().template allocate<std::uint32_t>(in.size());
  tilewise::argsort(in, indices, options);
  return indices;
}

}  // namespace tilewise
