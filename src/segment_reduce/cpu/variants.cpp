// SPDX-License-Identifier: Apache-2.0
// What:   segment_reduce on the CPU: work is dealt by elements and segments, not by segments alone.
// Order:  blocks are counted from each segment's begin; tiles of a long segment are such blocks.
// Shape:  a tile has the segments that begin on its share of elements and segments; a worker reduces them one after
//         another. Segments much longer than a tile wait until all tiles are done; then all workers share each.
// Limits: none.
// Twins:  serial.cpp; the kernels are in kernels.cpp and reduce/cpu/kernels.cpp.
#include "reduce/cpu/kernels.hpp"
#include "registry/variant.hpp"
#include "segment_reduce/cpu/kernels.hpp"
#include "segment_reduce/cpu/tiles.hpp"
#include "segment_reduce/problem.hpp"

#include <algorithm>
#include <mutex>

namespace tilewise::impl::segment_reduce {

namespace {

using backend::buffer;

constexpr std::array<unsigned, 3> tile_lengths{8192, 32768, 131072};
constexpr std::array<registry::tuning_axis, 1> axes{{{"tile", tile_lengths, 32768}}};

template <class T, class Op>
class reduction {
 public:
  reduction(const registry::problem& p, const segments<T>& of, std::uint64_t tile, backend::cpu::queue& queue)
      : of_all_(segmentation_of(p)), offsets_(of.offsets, segments_of(p) + 1), tile_(tile), of_(of), queue_(queue) {}

  void run() {
    const buffer scratch(queue_, queue_.threads() * slot() * sizeof(T));
    scratch_ = scratch.as<T>();
    for_each_tile(of_all_, offsets_, tile_, queue_,
                  [&](std::uint64_t s, std::uint64_t end, unsigned worker) { reduce_segments(s, end, worker); });
    if (!long_.empty()) reduce_long();
  }

 private:
  std::uint64_t slot() const { return along_.scratch_elements(std::max(2 * tile_, of_all_.elements / tile_)); }
  std::uint64_t begin_of(std::uint64_t s) const { return static_cast<std::uint64_t>(of_.offsets[s]); }
  std::uint64_t length_of(std::uint64_t s) const { return begin_of(s + 1) - begin_of(s); }

  T prefix_of(const T* x, std::uint64_t n, T before, unsigned worker) const {
    T* const levels = scratch_ + worker * slot();
    along_.upsweep(x, n, levels);
    return along_.fold(x, n, levels, before);
  }
  /// Writes the result of segment s, of which `prefix` is P.
  void finish(std::uint64_t s, T prefix) const {
    of_.out[s] = order::canonical(Op::template apply<T>(of_.first, prefix));
  }

  void reduce_segments(std::uint64_t s, std::uint64_t end, unsigned worker) {
    while ((s = short_.short_segments(of_, s, end)) < end) {
      if (length_of(s) > 2 * tile_) {
        const std::lock_guard lock(adding_);
        long_.push_back(s);
      } else {
        finish(s, prefix_of(of_.x + begin_of(s), length_of(s), Op::template identity<T>(), worker));
      }
      ++s;
    }
  }

  void reduce_long() {
    std::vector<std::uint64_t> first_tile{0};
    for (const std::uint64_t s : long_) first_tile.push_back(first_tile.back() + length_of(s) / tile_);
    const buffer room(queue_, first_tile.back() * sizeof(T));
    T* const values = room.as<T>();
    queue_.for_each_tile(first_tile.back(), [&](std::uint64_t i, unsigned worker) {
      const auto owner = std::upper_bound(first_tile.begin(), first_tile.end(), i) - first_tile.begin() - 1;
      const auto k = static_cast<std::size_t>(owner);
      values[i] = prefix_of(of_.x + begin_of(long_[k]) + (i - first_tile[k]) * tile_, tile_, Op::template identity<T>(),
                            worker);
    });
    queue_.for_each_tile(long_.size(), [&](std::uint64_t k, unsigned worker) {
      const std::uint64_t tiles = first_tile[k + 1] - first_tile[k], s = long_[k];
      const T carry = prefix_of(values + first_tile[k], tiles, Op::template identity<T>(), worker);
      finish(s, prefix_of(of_.x + begin_of(s) + tiles * tile_, length_of(s) % tile_, carry, worker));
    });
  }

  const segmentation of_all_;
  const std::span<const std::int64_t> offsets_;
  const std::uint64_t tile_;
  const segments<T> of_;
  backend::cpu::queue& queue_;
  const reduce::cpu_kernels<T>& along_ = reduce::kernels_for<T>(queue_.level(), Op::id);
  const cpu_kernels<T>& short_ = kernels_for<T>(queue_.level(), Op::id);
  T* scratch_ = nullptr;
  std::mutex adding_;
  std::vector<std::uint64_t> long_;  // in any order: none depends on another
};

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning& t, backend::queue& q) {
  const auto [tile] = t.of(axes);
  auto& queue = static_cast<backend::cpu::queue&>(q);
  const std::span<const std::int64_t> offsets = offsets_of(p, where);
  require_segments(segmentation_of(p), offsets, queue);
  with_type(p.type, [&]<class T>(T) {
    order::with_operator(operation_of(p), [&]<class Op>(Op) {
      const segments<T> of{where.in[0].as<const T>(), offsets.data(), where.out[0].as<T>(), first_of<T, Op>(p),
                           empty_value<T, Op>(p)};
      reduction<T, Op>(p, of, tile_for(segmentation_of(p), tile, queue), queue).run();
    });
  });
}

}  // namespace

std::vector<registry::variant> segment_reduce_cpu_variants() {
  return {{.algorithm = "segment_reduce",
           .backend = "cpu",
           .name = "",
           .types = all_dtypes,
           .source = "merge-based division of work: Merrill and Garland, Merge-based parallel SpMV, SC 2016",
           .tuning = axes,
           .run = run}};
}

}  // namespace tilewise::impl::segment_reduce
