// SPDX-License-Identifier: Apache-2.0
// What:   where the segments of a call lie: which begin on which tile, which are long, and the values of their chunks.
// Order:  chunks are counted from each segment's begin, so they are blocks of that segment, and their values are its
//         elements of a higher level.
// Shape:  survey: reads the offsets once, checks them, and notes where tiles begin and which windows belong to long
//         segments. A window is a chunk's length of elements, and is one warp's: at most one chunk begins in it.
// Limits: waits for the survey, so that false offsets are refused before anything is written.
// Twins:  segment_reduce/cpu/tiles.hpp.
#pragma once

#include "backend/cuda/error.hpp"
#include "backend/cuda/queue.hpp"
#include "base/ceil_div.hpp"
#include "reduce/cuda/chunks.cuh"
#include "segment_reduce/cuda/tile.cuh"
#include "segment_reduce/offsets.hpp"

#include <algorithm>
#include <type_traits>

namespace tilewise::impl::segment_reduce {

using reduce::chunk_length, reduce::chunk_level, reduce::chunk_value;

inline constexpr unsigned groups_together = 4;

inline constexpr unsigned most_levels = 6;  // of chunks: enough for 2^63 elements in chunks of 512
inline constexpr std::uint64_t no_segment = ~std::uint64_t{0};

/// What the survey writes. A segment's chunk c has number `begin / chunk_length + c` on its level, and so on upwards,
/// so segments share none. All bits are set at first.
struct notes {
  std::uint64_t* all_valid;           // 0 if the offsets are not those of segments
  unsigned long long* long_segments;  // how many, less one
  std::uint64_t* owner[most_levels];  // of each window of a level: the segment of which a chunk begins in it
  std::uint64_t* long_segment;
  tile_border* border;  // one more than tiles
  unsigned levels;
};

struct offsets_facts {
  const std::int64_t* offsets;
  std::uint64_t segments, elements, tiles, most_long;
  unsigned in_group;  // segments that one group takes at a time
  bool may_be_empty;
};

/// The lengths that depend on the elements' size alone.
template <class T>
struct lengths {
  static constexpr unsigned of_share = share<T>, of_stage = stage_elements<T>, log_chunk = chunk_level<T>;
};

/// A segment as the survey sees it. Only those that are valid by themselves lead to notes: no other has a place there.
template <class Lengths>
struct surveyed {
  std::uint64_t number, begin, end;
  std::uint64_t tile;  // on which it begins, after so many elements and segments of that tile:
  unsigned within;
  bool is_valid;

  __device__ surveyed(const offsets_facts& f, std::uint64_t s) : number(s), begin(0), end(0), tile(0), within(0) {
    const std::int64_t first = f.offsets[s], last = f.offsets[s + 1], n = static_cast<std::int64_t>(f.elements);
    is_valid = first >= 0 && first <= last && last <= n && (f.may_be_empty || first != last) &&
               (s != 0 || first == 0) && (s + 1 != f.segments || last == n);
    if (!is_valid) return;
    begin = static_cast<std::uint64_t>(first), end = static_cast<std::uint64_t>(last);
    tile = (begin + number) / Lengths::of_share;  // a division costs more than all else that most segments need
    within = static_cast<unsigned>(begin + number - tile * Lengths::of_share);
  }

  /// Whether its tile does not reduce it, since it may end beyond the stage: the tile's first element lies at most as
  /// far before this segment as the tile begins before it. The next segment then begins on another tile.
  __device__ bool is_long() const { return within + (end - begin) >= Lengths::of_stage; }
  /// The tile on which the next segment begins.
  __device__ std::uint64_t next_tile() const {
    const std::uint64_t on = within + (end - begin) + 1;
    return on < Lengths::of_share ? tile : tile + on / Lengths::of_share;
  }
  /// Whether so many notes are to be written that a group should share them.
  __device__ bool is_wide() const { return end - begin >> Lengths::log_chunk >= 64; }
};

/// Writes a segment's notes with `step` threads, of which this is number `first`.
template <class Lengths>
__device__ void note(const surveyed<Lengths>& s, const offsets_facts& f, const notes& to, unsigned first,
                     unsigned step) {
  const bool is_long = s.is_long();
  const tile_border behind{s.number + 1, s.end, is_long ? s.begin : s.end};
  // The tiles that begin after its begin, up to the next segment's.
  const std::uint64_t last_tile = s.next_tile();
  for (std::uint64_t t = s.tile + 1 + first; t <= last_tile; t += step) to.border[t] = behind;
  if (s.number + 1 == f.segments && first == 0) to.border[f.tiles] = behind;
  if (!is_long) return;
  std::uint64_t begin = s.begin, length = s.end - s.begin;
  for (unsigned level = 0; level < to.levels; ++level) {
    begin >>= Lengths::log_chunk, length >>= Lengths::log_chunk;
    for (std::uint64_t c = first; c < length; c += step) to.owner[level][begin + c] = s.number;
  }
}

inline constexpr unsigned surveyed_at_once = 4 * group_size;

template <class Lengths>
__global__ void __launch_bounds__(group_size)
    survey(const __grid_constant__ offsets_facts f, const __grid_constant__ notes to) {
  __shared__ std::uint64_t wide[surveyed_at_once];  // segments with many notes, which the whole group writes
  __shared__ unsigned wide_ones;
  if (blockIdx.x == 0 && threadIdx.x == 0) to.border[0] = {0, 0, 0};
  for (std::uint64_t base = std::uint64_t{blockIdx.x} * f.in_group; base < f.segments;
       base += std::uint64_t{gridDim.x} * f.in_group) {
    if (threadIdx.x == 0) wide_ones = 0;
    // Once there is a fault, every note is in vain, and false offsets could ask for very many of them.
    if (__syncthreads_or(__ldcg(to.all_valid) == 0) != 0) return;
    const std::uint64_t end = min(base + f.in_group, f.segments);
#pragma unroll 4
    for (std::uint64_t number = base + threadIdx.x; number < end; number += group_size) {
      const surveyed<Lengths> s(f, number);
      if (!s.is_valid) {
        *to.all_valid = 0;
        continue;
      }
      if (s.is_long()) {
        const std::uint64_t place = atomicAdd(to.long_segments, 1ull) + 1;
        if (place >= f.most_long) continue;  // only false offsets make so many
        to.long_segment[place] = number;
      }
      if (s.is_wide())
        wide[atomicAdd(&wide_ones, 1u)] = number;
      else
        note(s, f, to, 0, 1);
    }
    __syncthreads();
    for (unsigned i = 0; i < wide_ones; ++i) note(surveyed<Lengths>(f, wide[i]), f, to, threadIdx.x, group_size);
    __syncthreads();
  }
}

/// The chunk values of one level: those of `from`, which is the elements or the values of the level below.
template <class T, class Op>
__global__ void __launch_bounds__(group_size)
    reduce_chunks(const T* from, unsigned level, std::uint64_t windows, const std::int64_t* offsets,
                  const std::uint64_t* owner, T* values) {
  const std::uint64_t w = std::uint64_t{blockIdx.x} * (group_size / warp_size) + threadIdx.x / warp_size;
  if (w >= windows || owner[w] == no_segment) return;
  const std::uint64_t begin = static_cast<std::uint64_t>(offsets[owner[w]]) >> level * chunk_level<T>;
  const T* const chunk = from + w * chunk_length<T> + begin % chunk_length<T>;
  const T value = chunk_value<Op>(chunk, chunk_length<T>, reinterpret_cast<std::uintptr_t>(chunk) % 16 == 0);
  if (threadIdx.x % warp_size == 0) values[w] = value;
}

/// The elements and the values of each level of chunks.
template <class T>
struct levels_of {
  const T* at[most_levels + 1];
  unsigned count;
};

/// What a call knows of its segments. Owns the memory of all notes.
template <class Lengths>
class tiles_found {
 public:
  /// `has_chunks`: whether windows are noted.
  tiles_found(const segmentation& of, const std::int64_t* offsets, bool has_chunks, queue& q)
      : queue_(q),
        facts_{.offsets = offsets,
               .segments = of.segments,
               .elements = of.elements,
               .tiles = (of.elements + of.segments) / Lengths::of_share + 1,
               .most_long = of.elements / (Lengths::of_stage - Lengths::of_share),
               .in_group = static_cast<unsigned>(
                   std::min<std::uint64_t>(ceil_div(of.segments, std::uint64_t{8 * units()}), surveyed_at_once)),
               .may_be_empty = of.no_value.empty()},
        level_count_(has_chunks ? levels_of_windows() : 0),
        words_(q, (2 + window_count() + facts_.most_long) * sizeof(std::uint64_t) +
                      (facts_.tiles + 1) * sizeof(tile_border)) {
    std::uint64_t* next = words_.as<std::uint64_t>();
    notes_.all_valid = next++;
    notes_.long_segments = reinterpret_cast<unsigned long long*>(next++);
    notes_.levels = level_count_;
    for (unsigned level = 0; level < level_count_; next += windows_on(level++)) notes_.owner[level] = next;
    notes_.long_segment = next;
    notes_.border = reinterpret_cast<tile_border*>(next + facts_.most_long);
  }

  /// Returns whether the offsets are those of segments. Waits until that is known.
  bool survey_offsets() {
    TW_CUDA(cudaMemsetAsync(notes_.all_valid, 0xff, (2 + window_count()) * sizeof(std::uint64_t), queue_.stream()));
    survey<Lengths>
        <<<groups_for(facts_.segments, facts_.in_group, 8), group_size, 0, queue_.stream()>>>(facts_, notes_);
    TW_CUDA(cudaGetLastError());
    struct {
      std::uint64_t all_valid, long_segments_less_one;
    } found{};
    queue_.download(&found, backend::memory(words_).at(0, sizeof found), sizeof found);
    long_segments_ = std::min(found.long_segments_less_one + 1, facts_.most_long);
    return found.all_valid != 0;
  }

  const notes& found() const { return notes_; }
  unsigned tiles() const { return static_cast<unsigned>(facts_.tiles); }
  unsigned tile_groups() const { return groups_for(facts_.tiles, 1, groups_together); }
  std::uint64_t long_segments() const { return long_segments_; }
  /// The windows on a level of chunks; above the last level there is none.
  std::uint64_t windows_on(unsigned level) const { return facts_.elements >> (level + 1) * Lengths::log_chunk; }
  std::uint64_t window_count() const {
    std::uint64_t sum = 0;
    for (unsigned level = 0; level < level_count_; ++level) sum += windows_on(level);
    return sum;
  }
  /// As many groups as the work has shares, at most so many on a compute unit.
  unsigned groups_for(std::uint64_t work, unsigned each, unsigned on_unit) const {
    return static_cast<unsigned>(std::min(ceil_div(work, std::uint64_t{each}), std::uint64_t{units()} * on_unit));
  }

 protected:
  queue& queue_;
  const offsets_facts facts_;

 private:
  unsigned units() const { return static_cast<unsigned>(queue_.device().info().compute_units); }
  unsigned levels_of_windows() const {
    unsigned levels = 0;
    while (facts_.most_long != 0 && levels < most_levels && windows_on(levels) != 0) ++levels;
    return levels;
  }

  const unsigned level_count_;
  const backend::buffer words_;
  notes notes_{};
  std::uint64_t long_segments_ = 0;
};

template <class T>
using lengths_of = lengths<std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;

/// The same for folds. Owns the memory of chunk values too.
template <class T>
class segments_found : public tiles_found<lengths_of<T>> {
  using base = tiles_found<lengths_of<T>>;

 public:
  segments_found(const segmentation& of, const std::int64_t* offsets, const T* x, queue& q)
      : base(of, offsets, true, q), values_(q, base::window_count() * sizeof(T)) {
    levels_.at[0] = x;
    levels_.count = base::found().levels + 1;
    T* values = values_.template as<T>();
    for (unsigned level = 0; level + 1 < levels_.count; values += base::windows_on(level++))
      levels_.at[level + 1] = values;
  }

  template <class Op>
  void reduce_all_chunks() {
    for (unsigned level = 0; level + 1 < levels_.count; ++level) {
      reduce_chunks<T, Op><<<window_groups(level), group_size, 0, base::queue_.stream()>>>(
          levels_.at[level], level, base::windows_on(level), base::facts_.offsets, base::found().owner[level],
          const_cast<T*>(levels_.at[level + 1]));
      TW_CUDA(cudaGetLastError());
    }
  }

  const levels_of<T>& levels() const { return levels_; }
  /// Groups of group_size threads, of which each warp has a window.
  unsigned window_groups(unsigned level) const {
    return static_cast<unsigned>(ceil_div(base::windows_on(level), std::uint64_t{group_size / warp_size}));
  }

 private:
  const backend::buffer values_;
  levels_of<T> levels_{};
};

/// Whether tiles of the shortest share are too many for a launch.
inline std::string too_many_tiles(const segmentation& of) {
  return too_many_groups((of.elements + of.segments) / share<double> + 1);
}

}  // namespace tilewise::impl::segment_reduce
