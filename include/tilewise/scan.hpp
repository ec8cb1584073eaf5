// SPDX-License-Identifier: Apache-2.0
// Inclusive and exclusive scans (prefix sums, products, minima, maxima) in the pairwise order.
#pragma once

#include <tilewise/array.hpp>
#include <tilewise/error.hpp>
#include <tilewise/export.hpp>
#include <tilewise/partial.hpp>

#include <optional>

namespace tilewise {

/// Where and how `scan` computes.
struct scan_options {
  op operation = op::sum;                       ///< the operator that combines the elements
  std::optional<tilewise::device> device = {};  ///< for host data (default: the CPU); arrays use their own device
  std::string_view variant = {};                ///< force one, such as "lookback"; default: chosen
  std::string_view tuning = {};                 ///< such as "group_size=256 carry=direct"; never changes a bit
};

/// out[i] is reduce(in[0..i]), bit for bit: P(i+1) of docs/order.md. With `init`: init + P(i+1). `out` has the size of
/// `in`; it is either `in` itself or does not overlap it. Otherwise throws `invalid_argument`.
template <scalar T>
TILEWISE_API void inclusive_scan(std::span<const T> in, std::span<T> out, const scan_options& options = {});
template <scalar T>
TILEWISE_API void inclusive_scan(std::span<const T> in, std::span<T> out, std::type_identity_t<T> init,
                                 const scan_options& options = {});

/// out[0] = init, out[i] = init + P(i). Without `init`, a sum starts from 0 and a product from 1; min and max require
/// `init`.
template <scalar T>
TILEWISE_API void exclusive_scan(std::span<const T> in, std::span<T> out, const scan_options& options = {});
template <scalar T>
TILEWISE_API void exclusive_scan(std::span<const T> in, std::span<T> out, std::type_identity_t<T> init,
                                 const scan_options& options = {});

/// The same on a device, asynchronous in its queue.
template <scalar T>
TILEWISE_API void inclusive_scan(const array<T>& in, array<T>& out, const scan_options& options = {});
template <scalar T>
TILEWISE_API void inclusive_scan(const array<T>& in, array<T>& out, std::type_identity_t<T> init,
                                 const scan_options& options = {});
template <scalar T>
TILEWISE_API void exclusive_scan(const array<T>& in, array<T>& out, const scan_options& options = {});
template <scalar T>
TILEWISE_API void exclusive_scan(const array<T>& in, array<T>& out, std::type_identity_t<T> init,
                                 const scan_options& options = {});

/// Scans a part of a longer array: `carry` holds the reduction of all elements before it, and the call appends `in` to
/// `carry`. So an array can be scanned in parts of any length, with the bits of one call. options.operation must be
/// op::sum (its default) or the carry's operation, which is used in both cases. Throws `invalid_argument` for another
/// operation, or if the carry does not begin at 0. If it throws, the carry is unchanged.
template <scalar T>
TILEWISE_API void inclusive_scan(std::span<const T> in, std::span<T> out, partial<T>& carry,
                                 const scan_options& options = {});
template <scalar T>
TILEWISE_API void inclusive_scan(std::span<const T> in, std::span<T> out, std::type_identity_t<T> init,
                                 partial<T>& carry, const scan_options& options = {});
template <scalar T>
TILEWISE_API void exclusive_scan(std::span<const T> in, std::span<T> out, partial<T>& carry,
                                 const scan_options& options = {});
template <scalar T>
TILEWISE_API void exclusive_scan(std::span<const T> in, std::span<T> out, std::type_identity_t<T> init,
                                 partial<T>& carry, const scan_options& options = {});

/// The same on a device: waits until `carry` is updated; the scan itself is asynchronous.
template <scalar T>
TILEWISE_API void inclusive_scan(const array<T>& in, array<T>& out, partial<T>& carry,
                                 const scan_options& options = {});
template <scalar T>
TILEWISE_API void inclusive_scan(const array<T>& in, array<T>& out, std::type_identity_t<T> init, partial<T>& carry,
                                 const scan_options& options = {});
template <scalar T>
TILEWISE_API void exclusive_scan(const array<T>& in, array<T>& out, partial<T>& carry,
                                 const scan_options& options = {});
template <scalar T>
TILEWISE_API void exclusive_scan(const array<T>& in, array<T>& out, std::type_identity_t<T> init, partial<T>& carry,
                                 const scan_options& options = {});

template <host_range In, host_output<element_of<In>> Out>
void inclusive_scan(const In& in, Out&& out, const scan_options& options = {}) {
  tilewise::inclusive_scan(as_input(in), as_output(out), options);
}
template <host_range In, host_output<element_of<In>> Out>
void inclusive_scan(const In& in, Out&& out, element_of<In> init, const scan_options& options = {}) {
  tilewise::inclusive_scan(as_input(in), as_output(out), init, options);
}
template <host_range In>
std::vector<element_of<In>> inclusive_scan(const In& in, const scan_options& options = {}) {
  auto out = host_result<element_of<In>>(std::ranges::size(in));
  tilewise::inclusive_scan(as_input(in), as_output(out), options);
  return out;
}
template <host_range In>
std::vector<element_of<In>> inclusive_scan(const In& in, element_of<In> init, const scan_options& options = {}) {
  auto out = host_result<element_of<In>>(std::ranges::size(in));
  tilewise::inclusive_scan(as_input(in), as_output(out), init, options);
  return out;
}
template <scalar T>
array<T> inclusive_scan(const array<T>& in, const scan_options& options = {}) {
  array<T> out = allocate_like(in);
  tilewise::inclusive_scan(in, out, options);
  return out;
}
template <scalar T>
array<T> inclusive_scan(const array<T>& in, std::type_identity_t<T> init, const scan_options& options = {}) {
  array<T> out = allocate_like(in);
  tilewise::inclusive_scan(in, out, init, options);
  return out;
}

template <host_range In, host_output<element_of<In>> Out>
void exclusive_scan(const In& in, Out&& out, const scan_options& options = {}) {
  tilewise::exclusive_scan(as_input(in), as_output(out), options);
}
template <host_range In, host_output<element_of<In>> Out>
void exclusive_scan(const In& in, Out&& out, element_of<In> init, const scan_options& options = {}) {
  tilewise::exclusive_scan(as_input(in), as_output(out), init, options);
}
template <host_range In>
std::vector<element_of<In>> exclusive_scan(const In& in, const scan_options& options = {}) {
  auto out = host_result<element_of<In>>(std::ranges::size(in));
  tilewise::exclusive_scan(as_input(in), as_output(out), options);
  return out;
}
template <host_range In>
std::vector<element_of<In>> exclusive_scan(const In& in, element_of<In> init, const scan_options& options = {}) {
  auto out = host_result<element_of<In>>(std::ranges::size(in));
  tilewise::exclusive_scan(as_input(in), as_output(out), init, options);
  return out;
}
template <scalar T>
array<T> exclusive_scan(const array<T>& in, const scan_options& options = {}) {
  array<T> out = allocate_like(in);
  tilewise::exclusive_scan(in, out, options);
  return out;
}
template <scalar T>
array<T> exclusive_scan(const array<T>& in, std::type_identity_t<T> init, const scan_options& options = {}) {
  array<T> out = allocate_like(in);
  tilewise::exclusive_scan(in, out, init, options);
  return out;
}

template <host_range In, host_output<element_of<In>> Out>
void inclusive_scan(const In& in, Out&& out, partial<element_of<In>>& carry, const scan_options& options = {}) {
  tilewise::inclusive_scan(as_input(in), as_output(out), carry, options);
}
template <host_range In>
std::vector<element_of<In>> inclusive_scan(const In& in, partial<element_of<In>>& carry,
                                           const scan_options& options = {}) {
  auto out = host_result<element_of<In>>(std::ranges::size(in));
  tilewise::inclusive_scan(as_input(in), as_output(out), carry, options);
  return out;
}
template <scalar T>
array<T> inclusive_scan(const array<T>& in, partial<T>& carry, const scan_options& options = {}) {
  array<T> out = allocate_like(in);
  tilewise::inclusive_scan(in, out, carry, options);
  return out;
}
template <host_range In, host_output<element_of<In>> Out>
void inclusive_scan(const In& in, Out&& out, element_of<In> init, partial<element_of<In>>& carry,
                    const scan_options& options = {}) {
  tilewise::inclusive_scan(as_input(in), as_output(out), init, carry, options);
}
template <host_range In>
std::vector<element_of<In>> inclusive_scan(const In& in, element_of<In> init, partial<element_of<In>>& carry,
                                           const scan_options& options = {}) {
  auto out = host_result<element_of<In>>(std::ranges::size(in));
  tilewise::inclusive_scan(as_input(in), as_output(out), init, carry, options);
  return out;
}
template <scalar T>
array<T> inclusive_scan(const array<T>& in, std::type_identity_t<T> init, partial<T>& carry,
                        const scan_options& options = {}) {
  array<T> out = allocate_like(in);
  tilewise::inclusive_scan(in, out, init, carry, options);
  return out;
}
template <host_range In, host_output<element_of<In>> Out>
void exclusive_scan(const In& in, Out&& out, partial<element_of<In>>& carry, const scan_options& options = {}) {
  tilewise::exclusive_scan(as_input(in), as_output(out), carry, options);
}
template <host_range In>
std::vector<element_of<In>> exclusive_scan(const In& in, partial<element_of<In>>& carry,
                                           const scan_options& options = {}) {
  auto out = host_result<element_of<In>>(std::ranges::size(in));
  tilewise::exclusive_scan(as_input(in), as_output(out), carry, options);
  return out;
}
template <scalar T>
array<T> exclusive_scan(const array<T>& in, partial<T>& carry, const scan_options& options = {}) {
  array<T> out = allocate_like(in);
  tilewise::exclusive_scan(in, out, carry, options);
  return out;
}
template <host_range In, host_output<element_of<In>> Out>
void exclusive_scan(const In& in, Out&& out, element_of<In> init, partial<element_of<In>>& carry,
                    const scan_options& options = {}) {
  tilewise::exclusive_scan(as_input(in), as_output(out), init, carry, options);
}
template <host_range In>
std::vector<element_of<In>> exclusive_scan(const In& in, element_of<In> init, partial<element_of<In>>& carry,
                                           const scan_options& options = {}) {
  auto out = host_result<element_of<In>>(std::ranges::size(in));
  tilewise::exclusive_scan(as_input(in), as_output(out), init, carry, options);
  return out;
}
template <scalar T>
array<T> exclusive_scan(const array<T>& in, std::type_identity_t<T> init, partial<T>& carry,
                        const scan_options& options = {}) {
  array<T> out = allocate_like(in);
  tilewise::exclusive_scan(in, out, init, carry, options);
  return out;
}

}  // namespace tilewise
