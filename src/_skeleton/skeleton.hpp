// SPDX-License-Identifier: Apache-2.0
// The skeleton of an algorithm: y[i] = -x[i].
#pragma once

#include <tilewise/array.hpp>
#include <tilewise/error.hpp>
#include <tilewise/export.hpp>

#include <optional>

namespace tilewise {

/// Where and how `skeleton` runs.
struct skeleton_options {
  std::optional<tilewise::device> device = {};  ///< default: where the data is; for host data the CPU
  std::string_view variant = {};                ///< force one, such as "skeleton/serial"; default: chosen
  std::string_view tuning = {};                 ///< such as "tile_size=1024"; never changes a bit
};

/// out[i] = -in[i]; the sign of a zero changes too, unsigned integers wrap, and a NaN is the canonical quiet NaN.
/// `out` has the size of `in` and is `in` itself or does not overlap it; another size is `invalid_argument`.
template <scalar T>
TILEWISE_API void skeleton(std::span<const T> in, std::span<T> out, const skeleton_options& options = {});

/// The same on a device, asynchronous in its queue.
template <scalar T>
TILEWISE_API void skeleton(const array<T>& in, array<T>& out, const skeleton_options& options = {});

template <host_range In, host_output<element_of<In>> Out>
void skeleton(const In& in, Out&& out, const skeleton_options& options = {}) {
  tilewise::skeleton(as_input(in), as_output(out), options);
}
template <host_range In>
std::vector<element_of<In>> skeleton(const In& in, const skeleton_options& options = {}) {
  auto out = host_result<element_of<In>>(std::ranges::size(in));
  tilewise::skeleton(as_input(in), as_output(out), options);
  return out;
}
template <scalar T>
array<T> skeleton(const array<T>& in, const skeleton_options& options = {}) {
  array<T> out = allocate_like(in);
  tilewise::skeleton(in, out, options);
  return out;
}

}  // namespace tilewise
