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
  op operation = op::sum;                       ///< what elements are folded with
  std::optional<tilewise::device> device = {};  ///< of host data, default: the CPU; of arrays only their own
  std::string_view variant = {};                ///< force one, such as "lookback"; default: chosen
  std::string_view tuning = {};                 ///< such as "group_size=256 carry=direct"; never changes a bit
};

/// out[i] = P(i+1) of order.md, which is reduce(in[0..i]) bit for bit; with `init`, init + P(i+1).
/// `out` has the size of `in` and is `in` itself or does not overlap it; else `invalid_argument`.
template <scalar T>
TILEWISE_API void inclusive_scan(std::span<const T> in, std::span<T> out, const scan_options& options = {});
template <scalar T>
TILEWISE_API void inclusive_scan(std::span<const T> in, std::span<T> out, std::type_identity_t<T> init,
                                 const scan_options& options = {});

/// out[0] = init, out[i] = init + P(i). Without `init` a sum starts from 0 and a product from 1; min and max need one.
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

/// The same for a part of a longer array, of which `carry` has all that precedes it: `in` begins at carry.end(), and on
/// return carry has it appended. So an array may be scanned in parts of any lengths, with the bits of one call. The
/// operation is the carry's; naming another one in the options is `invalid_argument`, as is a carry that does not begin
/// at 0. Whatever fails, the carry is as it was.
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

/// On a device: waits for the values of the part's blocks, and is asynchronous from then on.
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
