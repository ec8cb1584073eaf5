// Inclusive and exclusive scans (prefix sums, products, minima, maxima) in the pairwise order.
#pragma once

#include <tilewise/array.hpp>
#include <tilewise/error.hpp>

#include <optional>
#include <ranges>

namespace tilewise {

struct scan_options {
  op operation = op::sum;
  std::optional<tilewise::device> device = {};  ///< default: where the data is; for host data the CPU
  std::string_view variant = {};                ///< force one, such as "lookback"; default: chosen
  std::string_view tuning = {};                 ///< such as "group_size=256 carry=direct"; never changes a bit
};

/// out[i] = P(i+1) of order.md, which is reduce(in[0..i]) bit for bit; with `init`, init + P(i+1).
/// `out` has the size of `in` and is `in` itself or does not overlap it; else `invalid_argument`.
template <scalar T>
void inclusive_scan(std::span<const T> in, std::span<T> out, const scan_options& options = {});
template <scalar T>
void inclusive_scan(std::span<const T> in, std::span<T> out, std::type_identity_t<T> init,
                    const scan_options& options = {});

/// out[0] = init, out[i] = init + P(i). Without `init` a sum starts from 0 and a product from 1; min and max need one.
template <scalar T>
void exclusive_scan(std::span<const T> in, std::span<T> out, const scan_options& options = {});
template <scalar T>
void exclusive_scan(std::span<const T> in, std::span<T> out, std::type_identity_t<T> init,
                    const scan_options& options = {});

/// The same on a device, asynchronous in its queue. The first form returns a new array.
template <scalar T>
array<T> inclusive_scan(const array<T>& in, const scan_options& options = {});
template <scalar T>
array<T> exclusive_scan(const array<T>& in, std::type_identity_t<T> init, const scan_options& options = {});
template <scalar T>
void inclusive_scan(const array<T>& in, array<T>& out, const scan_options& options = {});
template <scalar T>
void exclusive_scan(const array<T>& in, array<T>& out, std::type_identity_t<T> init, const scan_options& options = {});

/// Any contiguous ranges of host data, such as std::vector.
template <std::ranges::contiguous_range In, std::ranges::contiguous_range Out>
void inclusive_scan(const In& in, Out&& out, const scan_options& options = {}) {
  using T = std::ranges::range_value_t<In>;
  inclusive_scan<T>(std::span<const T>(in), std::span<T>(out), options);
}
template <std::ranges::contiguous_range In, std::ranges::contiguous_range Out>
void exclusive_scan(const In& in, Out&& out, std::ranges::range_value_t<In> init, const scan_options& options = {}) {
  using T = std::ranges::range_value_t<In>;
  exclusive_scan<T>(std::span<const T>(in), std::span<T>(out), init, options);
}

}  // namespace tilewise
