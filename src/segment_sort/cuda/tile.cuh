// SPDX-License-Identifier: Apache-2.0
// What:   sorts the short segments that begin on a tile, all at once, in one group's shared memory.
// Order:  by code (sort/code.hpp); where codes are equal, the earlier element comes first.
// Shape:  a segment of few elements is one thread's, which sorts it by a network in registers. A longer one has a
//         lane for each of its runs; runs are counted from its begin. Each lane sorts its run, and then the lanes of a
//         segment merge 2, 4, ... runs of it.
//
//             segments   aaaaabbbbbbbbbbbbbbbbbbbbbbcccccdddddddddddddd
//             lanes           [- 0 -][- 1 -][- 2 -]     [- 3 -][- 4 -]         a and c are a thread's
//
// Limits: the segments of a tile have at most tile_lengths::of_stage elements together; works in place.
// Twins:  sort/cuda/merge_tile.cuh, whose merges these are.
#pragma once

#include "segment_reduce/cuda/survey.cuh"
#include "sort/cuda/merge_pass.cuh"

#include <algorithm>

namespace tilewise::impl::segment_sort::on_cuda {

using namespace sort::on_cuda;
using segment_reduce::tile_border, segment_reduce::tile_share;
using sort::elements, sort::moves, sort::nothing, sort::sort_code;

/// Values stay in memory, so a tile holds keys and places whatever the values are. On an H200, with 33 keys of 32 bits
/// for a lane, segments of 500 to 1,000 take 15 % less, and those of 8 to 16 a third more.
template <class Bits, class Value>
using segments_shape = merge_tile<Bits, std::conditional_t<moves<Value>, std::uint32_t, nothing>, 17>;

/// Where tiles begin, for segment_reduce/cuda/survey.cuh.
struct tile_lengths {
  static constexpr unsigned of_stage = least_tile, of_share = of_stage / 4 * 3;
  static constexpr unsigned log_chunk = 12;  // no windows are noted; segments of 2^18 elements are noted by a group
};

/// Segments up to this length are one thread's, which holds them in registers.
template <class Value>
inline constexpr unsigned most_alone = moves<Value> ? 16 : 32;

template <class Bits, class Value>
struct segments_task {
  elements<Bits, Value> in, out;
  const std::int64_t* offsets;
  sort_code<Bits> code;

  /// Without values in the input, an element's value is its place in its segment.
  __device__ bool makes_places() const { return moves<Value> && in.values == nullptr; }
};

/// One run of a longer segment, which is one lane's.
struct run_of_segment {
  unsigned begin : 12, last : 12, number : 8;  // the segment's first and last element in the tile; of the run in it
};
__device__ inline run_of_segment no_run() { return {1, 0, 0}; }
static_assert(tile_lengths::of_stage <= 1u << 12);

template <class Bits, class Value>
class tile_of_segments {
 public:
  using shape = segments_shape<Bits, Value>;
  static constexpr unsigned held = shape::held, stage = tile_lengths::of_stage, group_size = shape::group_size;

  /// Loads `count` elements, the first of which is `first` in memory; their segments begin at the offsets.
  __device__ void load(const segments_task<Bits, Value>& w, std::uint64_t first, unsigned count, unsigned segments,
                       const std::int64_t* offsets) {
    Bits key[batch];
#pragma unroll
    for (unsigned r = 0; r < batch; ++r)
      if (const unsigned i = threadIdx.x + r * group_size; i < count) key[r] = w.in.keys[first + i];
    if (threadIdx.x == 0) runs_ = most_runs_ = longest_alone_ = 0;
    __syncthreads();
    note_segments(first, segments, offsets, w.makes_places());
    __syncthreads();  // the segments are known
    const slots slot = all_slots();
#pragma unroll
    for (unsigned r = 0; r < batch; ++r) {
      const unsigned i = threadIdx.x + r * group_size;
      if (i >= count) break;
      slot[i] = w.code.encode(key[r]);
      if constexpr (moves<Value>)
        if (!w.makes_places()) sorted_.from()[i] = static_cast<unsigned short>(i);
    }
    __syncthreads();  // the tile is loaded
  }

  __device__ void sort(std::uint64_t first, unsigned segments, const std::int64_t* offsets) {
    const unsigned longest = longest_alone_;
    if (longest > 24)
      sort_alone<most_alone<Value>>(first, segments, offsets);
    else if (longest > 16)
      sort_alone<std::min(24u, most_alone<Value>)>(first, segments, offsets);
    else if (longest > 8)
      sort_alone<16>(first, segments, offsets);
    else if (longest > 1)
      sort_alone<8>(first, segments, offsets);
    for (unsigned first_lane = 0; first_lane < runs_; first_lane += group_size) {
      const unsigned lane = first_lane + threadIdx.x;
      sort_runs(lane < runs_ ? run_[lane] : no_run());
    }
    __syncthreads();  // all are sorted
  }

  /// Writes the elements to where they were loaded from, in the output.
  __device__ void write(const segments_task<Bits, Value>& w, std::uint64_t first, unsigned count) {
    Value value[batch];
    const slots slot = all_slots();
#pragma unroll
    for (unsigned r = 0; r < batch; ++r) {
      const unsigned i = threadIdx.x + r * group_size;
      if (i >= count) break;
      w.out.keys[first + i] = w.code.decode(slot[i]);
      if constexpr (moves<Value>) {
        const unsigned from = sorted_.from()[i];
        value[r] = w.makes_places() ? static_cast<Value>(from) : w.in.values[first + from];
      }
    }
    if constexpr (moves<Value>) {
      __syncthreads();  // all values are read, which may lie where they go
#pragma unroll
      for (unsigned r = 0; r < batch; ++r)
        if (const unsigned i = threadIdx.x + r * group_size; i < count) w.out.values[first + i] = value[r];
    }
  }

 private:
  static constexpr unsigned batch = ceil_div(stage, group_size);
  /// Each segment has at most one run that is not whole, and takes lanes at most twice: to lie across two borders it
  /// would need more elements of others between than a tile has.
  static_assert(group_size == 256);
  static constexpr unsigned most_runs =
      ceil_div(2 * (stage / held + stage / (most_alone<Value> + 1)), group_size) * group_size;

  /// The keys by place. Where there are no runs they are spread, so that threads which step through segments of equal
  /// lengths use different banks.
  struct slots {
    Bits* keys;
    unsigned shift;

    __device__ Bits& operator[](unsigned i) const { return keys[i + (i >> shift)]; }
  };
  __device__ slots all_slots() { return {sorted_.keys(), runs_ == 0 ? 5u : 16u}; }
  static_assert(stage + stage / 32 <= shape::room + shape::held);

  /// By one thread each or, if they are few, by all threads.
  __device__ void note_segments(std::uint64_t first, unsigned segments, const std::int64_t* offsets, bool places) {
    constexpr unsigned few = 16;
    const auto place = [&](unsigned k) {
      return static_cast<unsigned>(static_cast<std::uint64_t>(offsets[k]) - first);
    };
    if (segments > few) {
      const auto take = [&](unsigned runs) { return atomicAdd(&runs_, runs); };
      for (unsigned k = threadIdx.x; k < segments; k += group_size) note(place(k), place(k + 1), take, 0, 1, places);
      return;
    }
    unsigned taken = 0;  // by all threads alike
    const auto take = [&](unsigned runs) { return (taken += runs) - runs; };
    for (unsigned k = 0; k < segments; ++k) note(place(k), place(k + 1), take, threadIdx.x, group_size, places);
    if (threadIdx.x == 0) runs_ = taken;
  }
  static __device__ unsigned runs_in(unsigned length) {
    return length <= most_alone<Value> ? 0 : ceil_div(length, held);
  }
  /// By thread `me` of `all`. A segment's runs are one group's at a time: what is left of a group's lanes stays idle if
  /// they are more.
  template <class Take>
  __device__ void note(unsigned begin, unsigned end, const Take& take, unsigned me, unsigned all, bool places) {
    const unsigned length = end - begin, runs = runs_in(length);
    if (me == 0 && length > 1) atomicMax(runs == 0 ? &longest_alone_ : &most_runs_, runs == 0 ? length : runs);
    unsigned lane = runs == 0 ? 0 : take(runs);
    for (; lane % group_size + runs > group_size; lane = take(runs))
      for (unsigned r = me; r < runs; r += all) run_[lane + r] = no_run();
    for (unsigned r = me; r < runs; r += all) run_[lane + r] = {begin, end - 1, r};
    if (places)
      for (unsigned i = me; i < length; i += all) sorted_.from()[begin + i] = static_cast<unsigned short>(i);
  }

  template <unsigned Most>
  __device__ void sort_alone(std::uint64_t first, unsigned segments, const std::int64_t* offsets) {
    const slots slot = all_slots();
    for (unsigned k = threadIdx.x; k < segments; k += group_size) {
      const auto begin = static_cast<unsigned>(static_cast<std::uint64_t>(offsets[k]) - first);
      const auto length = static_cast<unsigned>(offsets[k + 1] - offsets[k]);
      if (length < 2 || length > most_alone<Value>) continue;
      held_elements<Bits, place_value, Most> own;
#pragma unroll
      for (unsigned i = 0; i < Most; ++i) {
        own.key[i] = i < length ? slot[begin + i] : ~Bits{0};
        if constexpr (moves<Value>) own.from[i] = i < length ? sorted_.from()[begin + i] : past_all;
      }
      sort_held(own);
#pragma unroll
      for (unsigned i = 0; i < Most; ++i) {
        if (i >= length) break;
        slot[begin + i] = own.key[i];
        if constexpr (moves<Value>) sorted_.from()[begin + i] = own.from[i];
      }
    }
  }

  /// A lane's run, the elements that it holds.
  struct own_run {
    unsigned begin, end, number;  // as in run_of_segment
    typename shape::piece piece;

    __device__ unsigned first() const { return begin + number * held; }
    __device__ unsigned count() const { return min(held, end - first()); }
    __device__ unsigned place(unsigned run) const { return min(begin + run * held, end); }
  };

  __device__ void sort_runs(const run_of_segment& mine) {
    own_run own{mine.begin, mine.last + 1u, mine.number, {}};
    if (own.begin < own.end) {
#pragma unroll
      for (unsigned i = 0; i < held; ++i) {
        const bool is_there = i < own.count();
        own.piece.key[i] = is_there ? sorted_.keys()[own.first() + i] : ~Bits{0};
        if constexpr (moves<Value>) own.piece.from[i] = is_there ? sorted_.from()[own.first() + i] : past_all;
      }
      sort_held(own.piece);
      store_for(1, own);
    }
#pragma unroll 1
    for (unsigned run = 1; run < most_runs_; run *= 2) {
      __syncthreads();  // all runs are stored
      const unsigned pair = own.number & ~(2 * run - 1);
      const facing_runs runs{own.place(pair), run * held, own.place(pair + 2 * run) - own.place(pair + run),
                             own.place(pair + 2 * run)};
      if (runs.right != 0) {
        merge_piece(sorted_, runs, own.first() - runs.begin, own.piece);
        look_up_places(sorted_, own.piece);
      }
      __syncthreads();  // and read
      if (own.place(own.number) != own.end) store_for(2 * run, own);
    }
  }

  /// Stores the lane's elements for the next merge, of runs of so many lanes: those of the right one backwards.
  __device__ void store_for(unsigned run, const own_run& own) {
    const unsigned aligned = own.number & ~(run - 1), first = own.first();
    const bool is_right = (own.number & run) != 0;
    const unsigned turned = own.place(aligned) + own.place(aligned + run) - 1;
#pragma unroll
    for (unsigned i = 0; i < held; ++i) {
      if (i >= own.count()) break;
      const unsigned to = is_right ? turned - (first + i) : first + i;
      sorted_.keys()[to] = own.piece.key[i];
      if constexpr (moves<Value>) sorted_.from()[to] = own.piece.from[i];
    }
  }

  using place_value = std::conditional_t<moves<Value>, std::uint32_t, nothing>;
  static constexpr unsigned short past_all = 0xffff;  // of what is not there, whose code is the greatest

  shape sorted_;
  run_of_segment run_[most_runs];
  unsigned runs_, most_runs_, longest_alone_;
};

template <class Bits, class Value>
inline constexpr unsigned groups_of_tiles = sizeof(Bits) == 8 ? 3 : 1024 / segments_shape<Bits, Value>::group_size;

template <class Bits, class Value>
__global__ void __launch_bounds__(tile_of_segments<Bits, Value>::group_size, groups_of_tiles<Bits, Value>)
    sort_short_segments(const __grid_constant__ segments_task<Bits, Value> w, const tile_border* border) {
  __shared__ tile_of_segments<Bits, Value> tile;
  const tile_border from = border[blockIdx.x], to = border[blockIdx.x + 1];
  if (from.segment == to.segment) return;
  const tile_share mine(from, to);
  tile.load(w, from.begin, mine.elements, mine.count, w.offsets + from.segment);
  tile.sort(from.begin, mine.count, w.offsets + from.segment);
  tile.write(w, from.begin, mine.elements);
}

}  // namespace tilewise::impl::segment_sort::on_cuda
