// SPDX-License-Identifier: Apache-2.0
// The sort of many keys without values, on processors that part keys with vector instructions. First each tile is
// parted by the same splitters in a worker's cache. Then a worker collects one part from all tiles and sorts it in its
// cache. So the array is read and written twice. Source: W. D. Frazer, A. C. McKellar, Samplesort (1970).
#pragma once

#include "backend/cpu/device.hpp"
#include "base/ceil_div.hpp"
#include "sort/cpu/vector_kernels.hpp"
#include "sort/operands.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace tilewise::impl::sort {

template <class Bits>
class part_sort {
 public:
  part_sort(const sort_task<Bits, nothing>& task, backend::cpu::queue& queue)
      : task_(task),
        queue_(queue),
        kernels_(vector_kernels_for<Bits>(queue.level())),
        length_(std::clamp(ceil_div(task.n, each * queue.threads()), least_tile, most_tile)),
        tiles_(ceil_div(task.n, length_)),
        parts_(std::max(each * queue.threads(), std::min(ceil_div(task.n, part), most_parts))) {}

  /// Returns false, and has done nothing, if one key is so frequent that all workers would wait for the one that sorts
  /// it.
  bool run() {
    const workspace<Bits, nothing> parted(queue_, task_.n);
    std::vector<std::uint64_t> begin(tiles_ * (parts_ + 1));  // where each part begins in each tile, and the tile's end
    part_tiles(parted.all().keys, begin);
    std::vector<std::uint64_t> out(parts_ + 1);
    for (std::uint64_t t = 0; t < tiles_; ++t)
      for (std::uint64_t p = 0; p < parts_; ++p) out[p + 1] += size_of(begin, t, p);
    const std::uint64_t largest = *std::max_element(out.begin(), out.end());
    for (std::uint64_t p = 0; p < parts_; ++p) out[p + 1] += out[p];
    if (largest > task_.n / queue_.threads()) return false;
    const workspace<Bits, nothing> room(queue_, queue_.threads() * 2 * largest);
    queue_.for_each_tile(parts_, [&](std::uint64_t p, unsigned worker) {
      Bits *const codes = room.all().keys + worker * 2 * largest, *to = codes;
      for (std::uint64_t t = 0; t < tiles_; ++t) {
        const std::uint64_t size = size_of(begin, t, p);
        std::memcpy(to, parted.all().keys + begin[t * (parts_ + 1) + p], size * sizeof(Bits));
        to += size;
      }
      kernels_.sort_parted(codes, codes + largest, out[p + 1] - out[p], task_.code, task_.out.keys + out[p]);
    });
    return true;
  }

 private:
  /// At least so many parts and tiles per worker: enough to even out that some are larger.
  static constexpr std::uint64_t each = 8;
  /// Keys of a part. A part, its workspace and its output fit a second-level cache, and so do a tile and its workspace.
  static constexpr std::uint64_t part = (1 << 17) / sizeof(Bits);
  /// With more parts each tile would hold too few keys of each. So parts of very long arrays exceed that cache.
  static constexpr std::uint64_t most_parts = 512;
  static constexpr std::uint64_t least_tile = (1 << 14) / sizeof(Bits), most_tile = (1 << 18) / sizeof(Bits);
  static constexpr std::uint64_t samples_each = 32;

  std::uint64_t size_of(const std::vector<std::uint64_t>& begin, std::uint64_t tile, std::uint64_t p) const {
    const std::uint64_t at = tile * (parts_ + 1) + p;
    return begin[at + 1] - begin[at];
  }

  /// Codes at equal distances in a sorted sample.
  std::vector<Bits> splitters() const {
    const std::uint64_t size = std::min(task_.n, samples_each * parts_);
    std::vector<Bits> sample(size), room(vector_room(size)), chosen;
    for (std::uint64_t i = 0; i < size; ++i) sample[i] = task_.code.encode(task_.in.keys[i * (task_.n / size)]);
    kernels_.sort(sample.data(), size, {}, sample.data(), room.data());
    for (std::uint64_t p = 1; p < parts_; ++p) chosen.push_back(sample[p * size / parts_]);
    return chosen;
  }

  void part_tiles(Bits* to, std::vector<std::uint64_t>& begin) const {
    const std::vector<Bits> by = splitters();
    const workspace<Bits, nothing> room(queue_, queue_.threads() * 2 * length_);
    queue_.for_each_tile(tiles_, [&](std::uint64_t tile, unsigned worker) {
      const std::uint64_t first = tile * length_, n = std::min(length_, task_.n - first);
      std::uint64_t* const begins = &begin[tile * (parts_ + 1)];
      begins[0] = first;
      kernels_.part({task_.in.keys + first, n, task_.code, by.data(), parts_, room.all().keys + worker * 2 * length_,
                     to + first, begins + 1});
      for (std::uint64_t p = 1; p <= parts_; ++p) begins[p] += begins[p - 1];
    });
  }

  const sort_task<Bits, nothing>& task_;
  backend::cpu::queue& queue_;
  const vector_kernels<Bits>& kernels_;
  const std::uint64_t length_, tiles_, parts_;
};

}  // namespace tilewise::impl::sort
