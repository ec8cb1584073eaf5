// SPDX-License-Identifier: Apache-2.0
// The skeleton of an algorithm: y[i] = -x[i].
#pragma once

#include <tilewise/device.hpp>
#include <tilewise/error.hpp>
#include <tilewise/export.hpp>

#include <optional>

namespace tilewise {

struct skeleton_options {
  std::optional<tilewise::device> device = {};  ///< default: the CPU
  std::string_view variant = {};                ///< force one, such as "skeleton/serial"; default: chosen
  std::string_view tuning = {};                 ///< such as "tile_size=1024"; never changes a bit
};

/// out[i] = -in[i]; the sign of a zero changes too, unsigned integers wrap, and a NaN is the canonical quiet NaN.
/// `out` has the size of `in` and is `in` itself or does not overlap it; another size is `invalid_argument`.
template <scalar T>
TILEWISE_API void skeleton(std::span<const T> in, std::span<T> out, const skeleton_options& options = {});

}  // namespace tilewise
