// SPDX-License-Identifier: Apache-2.0
// What:   radix sort, the lowest digit first, in as few passes over memory as there are digits that differ.
// Order:  stable passes; code.hpp.
// Shape:  what fits one group is sorted there (few.cuh), what fits one cluster by that, by ranks
//         (ranks.cuh) or by digits (radix_cluster.cuh), each in one launch. Otherwise one launch
//         counts all digits and makes a plan (radix_plan.cuh), and one launch per digit moves all elements
//         (radix_sweep.cuh). Many keys of 64 bits are sorted by as many high digits as make equal neighbours
//         rare; a last launch puts those in order. Keys that defeat that estimate get all digits sorted.
// Limits: none; works in place.
// Twins:  serial.cpp, opencl/onesweep.cl.
#include "base/ceil_div.hpp"
#include "sort/cuda/few.cuh"
#include "sort/cuda/radix_cluster.cuh"
#include "sort/cuda/radix_sweep.cuh"
#include "sort/cuda/ranks.cuh"

#include <algorithm>

namespace tilewise::impl::sort {

namespace {

using namespace on_cuda;

constexpr unsigned sweep_groups = 2;  // per compute unit

/// A tile's warps, and the rows of each.
template <unsigned Warps, unsigned Rows>
struct sweep_shape {
  static constexpr unsigned warps = Warps, rows = Rows, tile = Warps * Rows * warp_size;
};
/// As many rows as registers hold; a tile takes up to 84 KiB. On an H200 2^26 keys of 32 bits take 1.05 ms so; with
/// 16 warps of 22 rows, 1.08. 2^26 pairs of 8 and 8 bytes take 3.76 ms, and 4.02 with 12 rows.
template <class Bits, class Value>
using large_tile = sweep_shape<12, sizeof(Bits) + value_bytes<Value> == 16
                                       ? 14
                                       : std::min(32u, 192 / static_cast<unsigned>(sizeof(Bits) + value_bytes<Value>))>;
/// For keys of 32 bits, where each group has several tiles even so: 2.5 to 3 % faster from 2^24 keys on, and 4 % slower
/// for 2^22.
using longest_tile = sweep_shape<12, 40>;
constexpr std::uint64_t several = 4;
/// For keys that are all in flight at once even so: less to do for each unit. The wider ones gain nothing by it.
using small_tile = sweep_shape<16, 16>;

/// Below this many keys a further pass costs less than the stand-by launches.
constexpr std::uint64_t least_partial = std::uint64_t{1} << 21;

unsigned groups_on(const queue& q) { return sweep_groups * q.device().info().compute_units; }

template <class Bits, class Value, class Shape>
class radix_sort {
 public:
  static constexpr unsigned warps = Shape::warps, rows = Shape::rows, tile = Shape::tile;
  using work = radix_work<Bits, Value, tile>;

  radix_sort(const sort_task<Bits, Value>& task, queue& q)
      : queue_(q), groups_(groups_on(q)), work_(describe(task)), spare_(q, task.n), tables_(q, table_bytes()) {
    work_.spare = spare_.all();
    lay_out(tables_.as<unsigned char>());
  }

  void enqueue() {
    const cudaStream_t stream = queue_.stream();
    TW_CUDA(cudaMemsetAsync(tables_.as<void>(), 0, zero_bytes(), stream));
    constexpr unsigned bytes = sizeof(count_shared<Bits>), threads = count_warps * warp_size;
    const auto count = count_digits<Bits, Value, tile>;
    TW_CUDA(cudaFuncSetAttribute(count, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    count<<<groups(threads * count_rows, count_groups), threads, bytes, stream>>>(work_);
    TW_CUDA(cudaGetLastError());  // sweeps would scatter by whatever lies there for counts
    sweep_all(false);
    if (work_.partial) {
      settle<<<groups(settle_threads, settle_groups), settle_threads, 0, stream>>>(work_);
      TW_CUDA(cudaGetLastError());
      sweep_all(true);
    }
  }

 private:
  static constexpr unsigned settle_threads = 256, settle_groups = 4;

  static work describe(const sort_task<Bits, Value>& task) {
    work w{};
    w.task = task;
    w.in_place = task.in_place();
    w.partial = sizeof(Bits) == 8 && task.n >= least_partial;
    const std::uint64_t tiles = ceil_div(task.n, tile);
    w.most_tiles = std::min(tiles, work::portion_tiles);
    w.portions = static_cast<unsigned>(ceil_div(tiles, work::portion_tiles));
    return w;
  }

  std::uint64_t counts_bytes() const { return digits<Bits> * digit_values * sizeof(std::uint64_t); }
  std::uint64_t zero_bytes() const { return counts_bytes() + (work_.launches() + 1) * sizeof(unsigned); }
  std::uint64_t plan_at() const { return (zero_bytes() + 255) / 256 * 256; }
  std::uint64_t bases_at() const { return plan_at() + 256; }
  std::uint64_t states_at() const { return bases_at() + work_.portions * counts_bytes(); }
  std::uint64_t state_bytes() const { return work_.most_tiles * digit_values * sizeof(unsigned); }
  std::uint64_t table_bytes() const { return states_at() + 2 * state_bytes(); }

  void lay_out(unsigned char* base) {
    work_.counts = reinterpret_cast<unsigned long long*>(base);
    work_.tickets = reinterpret_cast<unsigned*>(base + counts_bytes());
    work_.plan = reinterpret_cast<radix_plan<Bits>*>(base + plan_at());
    work_.bases = reinterpret_cast<std::uint64_t*>(base + bases_at());
    for (unsigned i = 0; i < 2; ++i)
      work_.state_table[i] = reinterpret_cast<unsigned*>(base + states_at() + i * state_bytes());
  }

  /// Groups for a loop whose steps take `each` elements per group; at most `most` per compute unit.
  unsigned groups(std::uint64_t each, unsigned most) const {
    const std::uint64_t steps = ceil_div(work_.task.n, each);
    return static_cast<unsigned>(std::min<std::uint64_t>(steps, most * queue_.device().info().compute_units));
  }

  void sweep_all(bool again) {
    constexpr unsigned bytes = sizeof(sweep_shared<Bits, Value, warps, rows>);
    const auto kernel = sweep_tiles<Bits, Value, warps, rows, sweep_groups>;
    TW_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    const auto drawing = static_cast<unsigned>(std::min<std::uint64_t>(work_.most_tiles, groups_));
    for (unsigned pass = 0; pass < digits<Bits>; ++pass)
      for (unsigned portion = 0; portion < work_.portions; ++portion) {
        kernel<<<drawing, warps * warp_size, bytes, queue_.stream()>>>(work_, sweep_launch{pass, portion, again});
        TW_CUDA(cudaGetLastError());
      }
  }

  queue& queue_;
  unsigned groups_;
  work work_;
  workspace<Bits, Value> spare_;
  backend::buffer tables_;
};

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& on) {
  if (p.n() == 0) return;
  queue& q = enter(on);
  with_task(p, where, [&]<class Bits, class Value>(const sort_task<Bits, Value>& task) {
    if (fits_ranks(task, q)) return sort_by_ranks(task, q);
    if (is_few(task)) return enqueue_few(task, q);
    if (fits_cluster(task, q)) return sort_in_cluster(task, q);
    if constexpr (sizeof(Bits) + value_bytes<Value> == 4) {
      if (ceil_div(task.n, small_tile::tile) <= groups_on(q))
        return radix_sort<Bits, Value, small_tile>(task, q).enqueue();
      if (task.n / longest_tile::tile >= several * groups_on(q))
        return radix_sort<Bits, Value, longest_tile>(task, q).enqueue();
    }
    radix_sort<Bits, Value, large_tile<Bits, Value>>(task, q).enqueue();
  });
}

}  // namespace

registry::variant cuda_radix_variant() {
  return {.algorithm = "sort",
          .backend = "cuda",
          .name = "radix",
          .types = all_dtypes,
          .source =
              "Adinets, Merrill, Onesweep: A Faster Least Significant Digit Radix Sort for GPUs, "
              "arXiv:2206.01784; plans of high digits are our own; few keys: Batcher, Sorting networks and their "
              "applications, 1968; Satish, Harris, Garland, Designing Efficient Sorting Algorithms for Manycore GPUs, "
              "2009",
          .run = run};
}

}  // namespace tilewise::impl::sort
