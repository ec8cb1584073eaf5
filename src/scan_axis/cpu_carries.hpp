// SPDX-License-Identifier: Apache-2.0
// What:   the prefixes before the tiles of several bands of lines at once; a band is a row, or a strip of columns.
// Order:  P(t + 1) over a line's tiles is P(t + 1 - 2^k) and the block of the last 2^k tiles, where 2^k is the lowest
//         digit of t + 1; the blocks are those of a block stack.
// Shape:  the tiles of a band pass in order, those of different bands side by side.
// Limits: tiles are begun in ascending order, so whoever waits, waits for one that runs.
// Twins:  order/block_stack.hpp, the spine in scan/cpu/variants.cpp.
#pragma once

#include "backend/cpu/device.hpp"
#include "backend/cpu/wait.hpp"
#include "order/operators.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <vector>

namespace tilewise::impl::scan_axis {

template <class T, class Op>
class tile_carries {
 public:
  /// For `tiles` whole tiles in each of `bands` bands of `width` lines.
  tile_carries(backend::cpu::queue& queue, std::uint64_t bands, std::uint64_t tiles, std::uint64_t width)
      : tiles_(tiles),
        width_(width),
        turns_(bands),
        prefixes_(queue, bands * (tiles + 1) * width * sizeof(T)),
        blocks_(queue, bands * levels() * width * sizeof(T)) {
    for (std::uint64_t band = 0; band < bands; ++band) std::fill_n(prefix(band, 0), width, Op::template identity<T>());
  }

  /// P before a tile, for each line of its band; known once the tile's turn has come.
  const T* before(std::uint64_t band, std::uint64_t tile) const { return prefix(band, tile); }

  void wait(std::uint64_t band, std::uint64_t tile) const {
    backend::cpu::spin_until([&] { return turns_[band].load(std::memory_order_acquire) == tile; });
  }

  /// Waits for the tile's turn and appends its block values, which it overwrites.
  void pass(std::uint64_t band, std::uint64_t tile, T* value) {
    wait(band, tile);
    T* block = blocks_.as<T>() + band * levels() * width_;
    std::uint64_t length = 1;
    for (; (tile & length) != 0; length *= 2, block += width_)
      for (std::uint64_t l = 0; l < width_; ++l) value[l] = Op::template apply<T>(block[l], value[l]);
    std::copy_n(value, width_, block);
    const T* const from = prefix(band, tile + 1 - length);
    T* const to = prefix(band, tile + 1);
    for (std::uint64_t l = 0; l < width_; ++l) to[l] = Op::template apply<T>(from[l], value[l]);
    turns_[band].store(tile + 1, std::memory_order_release);
  }

 private:
  std::uint64_t levels() const { return static_cast<std::uint64_t>(std::bit_width(tiles_)); }
  T* prefix(std::uint64_t band, std::uint64_t tile) const {
    return prefixes_.as<T>() + (band * (tiles_ + 1) + tile) * width_;
  }

  std::uint64_t tiles_, width_;
  std::vector<std::atomic<std::uint64_t>> turns_;
  backend::buffer prefixes_, blocks_;
};

}  // namespace tilewise::impl::scan_axis
