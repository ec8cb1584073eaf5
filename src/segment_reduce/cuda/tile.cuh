// SPDX-License-Identifier: Apache-2.0
// What:   the segments that begin on a tile, in one group's shared memory: their elements, and the values of their runs.
// Order:  runs of 16 elements are counted from each segment's begin, so they are blocks of that segment; so are 16 runs.
//         Their values are the segment's elements of a higher level; what is left are the digits of its length.
// Shape:  256 threads stage the elements as memory lies. Each window of 16 elements is one thread's: at most one run
//         begins in it, and if one does, then of the segment that has the window's last element. So a thread folds a
//         run whatever the lengths are, and then a segment.
//
//             windows   |0123456789abcdef|0123456789abcdef|0123456789abcdef|
//             segments   aaaaabbbbbbbbbbb bbbbbbbbbbbbbbbb bbbbbccccccccccc
//             runs            [--- b's first ---][--- b's second ---]         c has none; a neither
//
// Limits: the segments of a tile end within the stage.
// Twins:  order/block_stack.hpp.
#pragma once

#include "reduce/cuda/rows.cuh"

namespace tilewise::impl::segment_reduce {

using namespace backend::cuda;
using reduce::fold_digits_of, reduce::place, reduce::run_length, reduce::stage_elements;

inline constexpr unsigned group_size = 256;
inline constexpr std::uint16_t nobody = 0xffff;

/// The elements and segments for which one group is responsible: the segments that begin there are its, as long as they
/// surely end within the stage.
template <class T>
inline constexpr unsigned share = stage_elements<T> / 8 * 7;

/// Elements and segments of a tile are together no more than the stage has elements, so begins of segments lie where no
/// elements do: backwards from the end.
template <class T>
class tile_memory {
 public:
  static constexpr unsigned windows = stage_elements<T> / run_length, high_windows = windows / run_length;

  __device__ T* elements() { return reinterpret_cast<T*>(memory_); }
  __device__ const T& element(unsigned i) const { return reinterpret_cast<const T*>(memory_)[place<T>(i)]; }
  /// The begin of segment k; after the last one, its end.
  __device__ std::uint16_t& begin(unsigned k) {
    return reinterpret_cast<std::uint16_t*>(memory_ + sizeof memory_)[-1 - static_cast<int>(k)];
  }

  T run[place<T>(windows) + 1];      // by window
  T sixteen_runs[high_windows + 1];  // by sixteen windows
  std::uint16_t owner[windows + 1];  // the segment that has a window's last element
  std::uint16_t high_owner[high_windows + 1];

 private:
  alignas(16) unsigned char memory_[(place<T>(stage_elements<T>) + 2) * sizeof(T)];
};

/// One segment of a tile: its first element in the stage, and its first run and the first sixteen of them.
struct staged_segment {
  unsigned begin, length;

  __device__ unsigned runs() const { return length / run_length; }
  __device__ unsigned first_run() const { return begin / run_length; }
  __device__ unsigned first_sixteen() const { return first_run() / run_length; }
};
template <class T>
__device__ staged_segment segment_at(tile_memory<T>& tile, unsigned k) {
  const unsigned begin = tile.begin(k), end = tile.begin(k + 1);
  return {begin, end - begin};
}

/// Elements in registers on their way to the stage: all loads are under way at once. Neighbouring threads take
/// neighbouring elements, which need no alignment and go to different banks of shared memory.
template <class T>
class loaded_elements {
 public:
  __device__ loaded_elements(const T* from, unsigned count) : count_(count) {
#pragma unroll
    for (unsigned i = 0; i < batch; ++i)
      if (const unsigned at = i * group_size + threadIdx.x; at < count) value_[i] = __ldcg(from + at);
  }

  __device__ void store(T* stage) const {
#pragma unroll
    for (unsigned i = 0; i < batch; ++i)
      if (const unsigned at = i * group_size + threadIdx.x; at < count_) stage[place<T>(at)] = value_[i];
  }

 private:
  static constexpr unsigned batch = stage_elements<T> / group_size;

  unsigned count_;
  T value_[batch];
};

/// Writes the owner of each window of `count` windows on both levels.
template <class T>
__device__ void find_owners(tile_memory<T>& tile, unsigned count) {
  const auto mark = [&](unsigned k, unsigned first, unsigned step) {
    const staged_segment s = segment_at(tile, k);
    if (s.length < run_length) return;
    const unsigned end = (s.begin + s.length) / run_length, high_end = (s.first_run() + s.runs()) / run_length;
    for (unsigned w = s.first_run() + first; w < end; w += step) tile.owner[w] = static_cast<std::uint16_t>(k);
    for (unsigned w = s.first_sixteen() + first; w < high_end; w += step)
      tile.high_owner[w] = static_cast<std::uint16_t>(k);
  };
  constexpr unsigned few = 16;
  if (count <= few)
    for (unsigned k = 0; k < count; ++k) mark(k, threadIdx.x, group_size);
  else
    for (unsigned k = threadIdx.x; k < count; k += group_size) mark(k, 0, 1);
}

/// Calls work(segment, window, first element) for each run that begins on the tile's `elements` elements.
template <class T, class Work>
__device__ void for_each_run(tile_memory<T>& tile, unsigned elements, const Work& work) {
  for (unsigned w = threadIdx.x; w < elements / run_length; w += group_size) {
    const unsigned k = tile.owner[w];
    if (k == nobody) continue;
    const staged_segment s = segment_at(tile, k);
    const unsigned run = w * run_length + s.begin % run_length;
    if (run + run_length <= s.begin + s.length) work(s, w, run);
  }
}

/// Writes the value of every run, and of every sixteen, of the tile's `elements` elements.
template <class Op, class T>
__device__ void fold_runs(tile_memory<T>& tile, unsigned elements) {
  T x[run_length];
  for_each_run(tile, elements, [&](const staged_segment&, unsigned w, unsigned run) {
#pragma unroll
    for (unsigned i = 0; i < run_length; ++i) x[i] = tile.element(run + i);
    tile.run[place<T>(w)] = tree_of<Op, run_length>(x);
  });
  __syncthreads();
  for (unsigned w = threadIdx.x; w < elements / run_length / run_length; w += group_size) {
    const unsigned k = tile.high_owner[w];
    if (k == nobody) continue;
    const staged_segment s = segment_at(tile, k);
    const unsigned run = w * run_length + s.first_run() % run_length;
    if (run + run_length > s.first_run() + s.runs()) continue;
#pragma unroll
    for (unsigned i = 0; i < run_length; ++i) x[i] = tile.run[place<T>(run + i)];
    tile.sixteen_runs[w] = tree_of<Op, run_length>(x);
  }
  __syncthreads();
}

/// P of a segment's first `runs` runs.
template <class Op, class T>
__device__ T prefix_of_runs(tile_memory<T>& tile, const staged_segment& s, unsigned runs) {
  const unsigned sixteens = runs / run_length;
  const T prefix = fold_digits_of<Op, tile_memory<T>::high_windows / 2>(
      Op::template identity<T>(), s.first_sixteen(), sixteens, [&](unsigned w) { return tile.sixteen_runs[w]; });
  return fold_digits_of<Op, run_length / 2>(prefix, s.first_run() + sixteens * run_length, runs % run_length,
                                            [&](unsigned w) { return tile.run[place<T>(w)]; });
}

/// Where a tile begins, which is where the one before it ends.
struct tile_border {
  std::uint64_t segment;  // the first one that begins on the tile
  std::uint64_t begin;    // its first element
  std::uint64_t stop;     // where the elements end that the tile before has: if its last segment is long, before that
};

/// What a tile does itself: the segments between two borders, but not the last one if it is long, which is if `stop`
/// lies before the second border.
struct tile_share {
  unsigned count, elements;

  __device__ tile_share(const tile_border& from, const tile_border& to)
      : count(static_cast<unsigned>(to.segment - from.segment) - (to.stop != to.begin)),
        elements(static_cast<unsigned>(to.stop - from.begin)) {}
};

/// Brings a tile's elements and the begins of its segments to the stage, and finds the owners of its windows.
template <class T>
__device__ void stage_tile(const T* x, const std::int64_t* offsets, const tile_border& from, const tile_share& mine,
                           tile_memory<T>& tile) {
  const loaded_elements<T> loaded(x + from.begin, mine.elements);
  for (unsigned k = threadIdx.x; k <= mine.count; k += group_size)
    tile.begin(k) = static_cast<std::uint16_t>(static_cast<std::uint64_t>(offsets[from.segment + k]) - from.begin);
  for (unsigned w = threadIdx.x; w < tile_memory<T>::windows; w += group_size) tile.owner[w] = nobody;
  for (unsigned w = threadIdx.x; w < tile_memory<T>::high_windows; w += group_size) tile.high_owner[w] = nobody;
  __syncthreads();  // begins are written
  find_owners(tile, mine.count);
  loaded.store(tile.elements());
  __syncthreads();
}

/// Calls work(from, to) for the borders of each tile with segments, by persistent groups, which know the next tile's
/// borders before they need them. Backwards: the last offsets that the survey read are still in the cache.
template <class Work>
__device__ void for_each_tile(const tile_border* border, unsigned tiles, const Work& work) {
  unsigned t = tiles - 1 - blockIdx.x;
  tile_border from = border[t], to = border[t + 1];
  while (true) {
    const bool is_last = t < gridDim.x;
    const unsigned next = is_last ? t : t - gridDim.x;
    const tile_border next_from = border[next], next_to = border[next + 1];
    if (from.segment != to.segment) {
      work(from, to);
      __syncthreads();  // the next tile's elements take the place of these
    }
    if (is_last) return;
    t = next, from = next_from, to = next_to;
  }
}

}  // namespace tilewise::impl::segment_reduce
