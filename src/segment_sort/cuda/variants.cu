// SPDX-License-Identifier: Apache-2.0
// What:   segment_sort on CUDA: short segments by tiles of several, long ones by tiles of their own, the longest as
//         sorts.
// Order:  by code (sort/code.hpp); every method is stable.
// Shape:  the host waits for the survey, which finds false offsets and counts the long segments, and if there are some,
//         for the list of their tiles.
// Limits: workspace of the size of the input if segments have more than a tile; works in place.
// Twins:  serial.cpp.
#include "backend/cuda/dispatch.hpp"
#include "segment_sort/alone.hpp"
#include "segment_sort/cuda/long.cuh"

namespace tilewise::impl::segment_sort {

namespace {

using namespace on_cuda;
using registry::problem;

template <class Bits, class Value>
class sort_of_segments {
 public:
  sort_of_segments(const problem& p, const registry::bindings& where, const sort::sort_task<Bits, Value>& task,
                   queue& q)
      : p_(p),
        where_(where),
        all_{task.in, task.out, offsets_memory(p, where).as<const std::int64_t>(), task.code},
        queue_(q) {}

  void run() {
    const segment_reduce::segmentation of = segmentation_of(p_);
    segment_reduce::tiles_found<tile_lengths> found(of, all_.offsets, false, queue_);
    if (!found.survey_offsets()) segment_reduce::refuse_offsets(of, offsets_memory(p_, where_), queue_);
    if (p_.n() == 0) return;
    if (found.long_segments() != 0) sort_long(found);  // first: it takes memory
    sort_short_segments<<<found.tiles(), tile_of_segments<Bits, Value>::group_size, 0, queue_.stream()>>>(
        all_, found.found().border);
    TW_CUDA(cudaGetLastError());
  }

 private:
  void sort_long(const segment_reduce::tiles_found<tile_lengths>& found) {
    const sort_of_long<Bits, Value> sorting(all_, p_.n(), found.found().long_segment, found.long_segments(), queue_);
    for (const segment_place& own : sorting.sorts_of_their_own()) sort_alone(p_, where_, own.begin, own.length, queue_);
    sorting.enqueue();
  }

  const problem& p_;
  const registry::bindings& where_;
  const segments_task<Bits, Value> all_;
  queue& queue_;
};

void run(const problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& q) {
  if (segments_of(p) == 0) return segment_reduce::require_segments_on(segmentation_of(p), offsets_memory(p, where), q);
  sort::with_task(p, where, [&]<class Bits, class Value>(const sort::sort_task<Bits, Value>& task) {
    sort_of_segments<Bits, Value>(p, where, task, enter(q)).run();
  });
}

std::string unsupported(const problem& p, const backend::device&, const registry::tuning&) {
  return too_many_groups((p.n() + segments_of(p)) / tile_lengths::of_share + 1);
}

}  // namespace

std::vector<registry::variant> segment_sort_cuda_variants() {
  return {{.algorithm = "segment_sort",
           .backend = "cuda",
           .name = "",
           .types = all_dtypes,
           .source = "Batcher, Sorting networks and their applications, 1968; Green, McColl, Bader, GPU Merge Path: A "
                     "GPU Merging Algorithm, ICS 2012; several segments in a tile: S. Baxter, moderngpu, 2013",
           .unsupported = unsupported,
           .run = run}};
}

}  // namespace tilewise::impl::segment_sort
