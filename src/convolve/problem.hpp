// SPDX-License-Identifier: Apache-2.0
// How a convolution is written as a registry::problem: shape {rows, columns, mask_rows, mask_columns}, setting border.
#pragma once

#include "base/ceil_div.hpp"
#include "registry/algorithm.hpp"
#include "registry/tuning.hpp"

#include <tilewise/convolve.hpp>
#include <tilewise/device.hpp>

#include <array>

namespace tilewise::impl::convolve {

const registry::algorithm& convolve_algorithm();
registry::problem describe(const detail::request& r);  // convolve.cpp
extern const registry::division division;              // pieces.cpp

inline constexpr std::array<std::string_view, 2> borders{"valid", "zero"};  // as the enum has them

/// The sizes, and where the mask lies: the pixels of result (i, j) begin at (i - above, j - left).
struct sizes {
  image_size image, mask, result;
  std::uint64_t above, left;

  explicit sizes(const registry::problem& p)
      : image{p.shape[0], p.shape[1]},
        mask{p.shape[2], p.shape[3]},
        result(image),
        above(mask.rows / 2),
        left(mask.columns / 2) {
    if (static_cast<border>(p.setting[0]) == border::zero) return;
    result = {image.rows - mask.rows + 1, image.columns - mask.columns + 1};
    above = left = 0;
  }
};

inline std::uint64_t tiles_of(const sizes& s, std::uint64_t tile_rows, std::uint64_t tile_columns) {
  return ceil_div(s.result.rows, tile_rows) * ceil_div(s.result.columns, tile_columns);
}

/// The number of rows of a square mask for which GPU variants have unrolled loops; 0 for any other mask.
inline unsigned unrolled_rows(const image_size& mask) {
  const bool is_unrolled = mask.rows == mask.columns && mask.rows % 2 == 1 && mask.rows >= 3 && mask.rows <= 9;
  return is_unrolled ? static_cast<unsigned>(mask.rows) : 0;
}

/// Why a variant with unrolled loops cannot use this mask; empty if it can.
inline std::string not_unrolled(const image_size& mask) {
  return unrolled_rows(mask) != 0 ? "" : "its masks are squares of 3, 5, 7 or 9 rows";
}

/// Why variants that read the image in packs of 16 bytes are not chosen for this problem; empty if they are. This
/// depends on the length of rows alone. A view that does not begin at such a pack is read element by element.
inline std::string rows_are_not_packs(const registry::problem& p) {
  const bool are_packs = sizes(p).image.columns * size_of(p.type) % 16 == 0;
  return are_packs ? "" : "tiles is faster where rows of the image are no multiples of 16 bytes";
}

/// The tuning axis of GPU variants whose threads compute several rows each.
inline constexpr std::array<unsigned, 4> row_values{0, 1, 2, 3};
inline constexpr std::array<std::string_view, 4> row_words{"auto", "2", "4", "8"};
inline constexpr std::array<registry::tuning_axis, 1> row_axes{{{"rows", row_values, 0, row_words}}};

/// Chooses how many rows a thread computes. More rows save reads of local memory, but make fewer tiles, which may leave
/// compute units idle. For a number of rows, `tiles` returns the number of tiles, and `reason_against` why the device
/// cannot run them.
template <class Tiles, class Reason>
unsigned choose_rows(const registry::tuning& t, const device_info& on, const Tiles& tiles,
                     const Reason& reason_against) {
  const auto [log_rows] = t.of(row_axes);
  if (log_rows != 0) return 1u << log_rows;
  constexpr std::uint64_t tiles_a_unit = 4;
  for (const unsigned rows : {8u, 4u})
    if (tiles(rows) >= tiles_a_unit * on.compute_units && reason_against(rows).empty()) return rows;
  return 2;
}

}  // namespace tilewise::impl::convolve
