// SPDX-License-Identifier: Apache-2.0
// What:   segment_sort on the CPU.
// Order:  by code (sort/code.hpp); every method is stable, or moves keys alone.
// Shape:  tiles of segments, one after another on a worker. Of the shortest segments each element is inserted where it
//         belongs. Segments longer than a worker's share wait until all tiles are done; each is then a sort, which all
//         share.
// Limits: workspace of two of the longest segments for each worker; works in place.
// Twins:  serial.cpp; the kernels are those of sort.
#include "backend/cpu/own_queues.hpp"
#include "registry/variant.hpp"
#include "segment_reduce/cpu/tiles.hpp"
#include "segment_sort/problem.hpp"
#include "sort/cpu/methods.hpp"

#include <mutex>

namespace tilewise::impl::segment_sort {

namespace {

using registry::problem;
using sort::elements, sort::moves, sort::sort_task;

/// Elements and segments of a tile, and elements of a segment that all workers share where there are several.
constexpr std::uint64_t tile = 32768;
/// Up to this many elements are inserted. On a Xeon 8 keys take 12.5 ns each so, 11.0 by vectors; 16 keys with values
/// 15.6 ns each, and 24 of them 20.4 by merging.
template <class Value>
constexpr std::uint64_t most_inserted = moves<Value> ? 16 : 7;

template <class Bits, class Value>
class sort_of_segments {
 public:
  sort_of_segments(const problem& p, const registry::bindings& where, const sort_task<Bits, Value>& all,
                   backend::cpu::queue& queue)
      : of_(segmentation_of(p)), offsets_(offsets_of(p, where)), all_(all), queue_(queue) {}

  void run() {
    backend::cpu::own_queues own(queue_);
    segment_reduce::for_each_tile(of_, offsets_, segment_reduce::tile_for(of_, tile, queue_), queue_,
                                  [&](std::uint64_t s, std::uint64_t end, unsigned worker) {
                                    for (; s < end; ++s) sort_segment(s, own.of(worker));
                                  });
    for (const std::uint64_t s : long_) sort::sort_by_digits(segment(s), queue_);
  }

 private:
  /// An element's value in a segment without values is its place there.
  sort_task<Bits, Value> segment(std::uint64_t s) const {
    const auto at = [begin = offsets_[s]](const elements<Bits, Value>& all) {
      return elements<Bits, Value>{all.keys + begin, all.values == nullptr ? nullptr : all.values + begin};
    };
    return {at(all_.in), at(all_.out), static_cast<std::uint64_t>(offsets_[s + 1] - offsets_[s]), all_.code};
  }

  void sort_segment(std::uint64_t s, backend::cpu::queue& alone) {
    const sort_task<Bits, Value> one = segment(s);
    if (one.n <= most_inserted<Value>) return insert(one);
    if (one.n <= tile || queue_.threads() == 1) return sort::sort_by_digits(one, alone);
    const std::lock_guard lock(adding_);
    long_.push_back(s);
  }

  static void insert(const sort_task<Bits, Value>& one) {
    std::array<Bits, most_inserted<Value>> codes;
    [[maybe_unused]] std::array<Value, most_inserted<Value>> values;
    for (std::uint64_t i = 0; i < one.n; ++i) {
      const Bits code = one.code.encode(one.in.keys[i]);
      std::uint64_t to = i;
      for (; to != 0 && codes[to - 1] > code; --to) {
        codes[to] = codes[to - 1];
        if constexpr (moves<Value>) values[to] = values[to - 1];
      }
      codes[to] = code;
      if constexpr (moves<Value>) values[to] = one.in.values == nullptr ? static_cast<Value>(i) : one.in.values[i];
    }
    for (std::uint64_t i = 0; i < one.n; ++i) {
      one.out.keys[i] = one.code.decode(codes[i]);
      if constexpr (moves<Value>) one.out.values[i] = values[i];
    }
  }

  const segment_reduce::segmentation of_;
  const std::span<const std::int64_t> offsets_;
  const sort_task<Bits, Value>& all_;
  backend::cpu::queue& queue_;
  std::mutex adding_;
  std::vector<std::uint64_t> long_;  // in any order: none depends on another
};

void run(const problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& q) {
  auto& queue = static_cast<backend::cpu::queue&>(q);
  segment_reduce::require_segments(segmentation_of(p), offsets_of(p, where), queue);
  sort::with_task(p, where, [&]<class Bits, class Value>(const sort_task<Bits, Value>& all) {
    sort_of_segments(p, where, all, queue).run();
  });
}

}  // namespace

std::vector<registry::variant> segment_sort_cpu_variants() {
  return {{.algorithm = "segment_sort",
           .backend = "cpu",
           .name = "",
           .types = all_dtypes,
           .source =
               "merge-based division of work: Merrill and Garland, Merge-based parallel SpMV, SC 2016; segments as "
               "in sort: D. E. Knuth, The Art of Computer Programming 3, 5.2.1 and 5.2.5",
           .run = run}};
}

}  // namespace tilewise::impl::segment_sort
