// Stable sorts of keys, of keys with values, and of indices.
#pragma once

#include <tilewise/array.hpp>
#include <tilewise/error.hpp>

#include <optional>
#include <ranges>

namespace tilewise {

/// Ascending: floats with -0.0 before +0.0 and every NaN last, by its bits. Descending is the reverse of that order, so
/// NaNs come first; equal keys keep the order of the input in both.
enum class sort_order : std::uint8_t { ascending, descending };

struct sort_options {
  sort_order order = sort_order::ascending;
  std::optional<tilewise::device> device = {};  ///< default: where the data is; for host data the CPU
  std::string_view variant = {};                ///< force one, such as "radix"; default: chosen
  std::string_view tuning = {};                 ///< never changes a bit
};

/// `out` has the size of `in` and is `in` itself or does not overlap it; else `invalid_argument`. No bit of a key
/// changes, NaN payloads included.
template <scalar T>
void sort(std::span<const T> in, std::span<T> out, const sort_options& options = {});

/// Moves each value with its key. All four have one size; keys and values may be sorted in place.
template <scalar T, scalar V>
void sort_by_key(std::span<const T> keys, std::span<const V> values, std::span<T> keys_out, std::span<V> values_out,
                 const sort_options& options = {});

/// indices[i] is where the i-th of the sorted elements stands in `in`; at most 2^32 elements, else `invalid_argument`.
template <scalar T>
void argsort(std::span<const T> in, std::span<std::uint32_t> indices, const sort_options& options = {});

/// The same on a device, asynchronous in its queue.
template <scalar T>
void sort(const array<T>& in, array<T>& out, const sort_options& options = {});
template <scalar T, scalar V>
void sort_by_key(const array<T>& keys, const array<V>& values, array<T>& keys_out, array<V>& values_out,
                 const sort_options& options = {});
template <scalar T>
void argsort(const array<T>& in, array<std::uint32_t>& indices, const sort_options& options = {});

/// Any contiguous range of host data, such as a std::vector, in place.
template <std::ranges::contiguous_range Range>
void sort(Range& values, const sort_options& options = {}) {
  using T = std::ranges::range_value_t<Range>;
  sort<T>(std::span<const T>(values), std::span<T>(values), options);
}

}  // namespace tilewise
