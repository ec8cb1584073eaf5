// SPDX-License-Identifier: Apache-2.0
// What:   sorts the segments that are too long for a tile of several.
// Order:  by code (sort/code.hpp); where codes are equal, the earlier element comes first.
// Shape:  the merge sort of sort/cuda/merge_path.cu, with tiles and merged runs that are counted from their segment's
//         begin; each launch has a group for each tile of each segment. A segment that needs fewer passes than the
//         longest one leaves out the last ones.
// Limits: workspace of the size of the input if a segment has several tiles, and that of a sort of the longest one;
//         waits for the list of tiles.
// Twins:  sort_axis/cuda/rows.cuh.
#pragma once

#include "segment_sort/cuda/tile.cuh"

#include <algorithm>

namespace tilewise::impl::segment_sort::on_cuda {

/// Segments of so many elements are sorts of their own: each gets close enough to the memory's bandwidth to pay for its
/// launches.
inline constexpr std::uint64_t own_length = std::uint64_t{1} << 22;

struct segment_place {
  std::uint64_t begin, length;
};
/// One tile of a long segment.
struct long_tile {
  segment_place segment;
  std::uint64_t number;
};

/// Merges of all of a segment's tiles.
TILEWISE_ANYWHERE constexpr unsigned passes_for(std::uint64_t tiles) {
  unsigned passes = 0;
  for (; tiles > 1; tiles = (tiles + ways - 1) / ways) ++passes;
  return passes;
}

struct found_tiles {
  unsigned long long tiles, most_of_a_segment, own;
};
/// The tiles of long segments, those of a segment one after another, and the segments that are sorts of their own.
struct tile_list {
  found_tiles* found;
  long_tile* tile;
  segment_place* own;
};

/// A group for each long segment.
template <unsigned Length>
__global__ void list_tiles(const std::int64_t* offsets, const std::uint64_t* long_segment, tile_list to) {
  __shared__ unsigned long long first;
  const std::uint64_t s = long_segment[blockIdx.x], begin = static_cast<std::uint64_t>(offsets[s]);
  const segment_place segment{begin, static_cast<std::uint64_t>(offsets[s + 1]) - begin};
  const std::uint64_t tiles = ceil_div(segment.length, std::uint64_t{Length});
  if (segment.length >= own_length) {
    if (threadIdx.x == 0) to.own[atomicAdd(&to.found->own, 1ull)] = segment;
    return;
  }
  if (threadIdx.x == 0) {
    first = atomicAdd(&to.found->tiles, tiles);
    atomicMax(&to.found->most_of_a_segment, tiles);
  }
  __syncthreads();
  for (std::uint64_t t = threadIdx.x; t < tiles; t += blockDim.x) to.tile[first + t] = {segment, t};
}

template <class Bits, class Value>
struct long_task {
  segments_task<Bits, Value> all;
  elements<Bits, Value> spare;
  const long_tile* tile;

  /// Where the elements of a segment with so many passes are before this one: the last one's are the output.
  __device__ elements<Bits, Value> before(unsigned pass, unsigned passes, std::uint64_t begin) const {
    return from_place((passes - pass) % 2 == 0 ? all.out : spare, begin);
  }
};

/// A tile with what its segment says of it.
template <class Bits, class Value>
struct placed_tile : long_tile {
  using shape = merge_tile<Bits, Value>;

  __device__ explicit placed_tile(const long_tile& t) : long_tile(t) {}
  __device__ unsigned passes() const { return passes_for(ceil_div(segment.length, std::uint64_t{shape::length})); }
  __device__ std::uint64_t begin() const { return number * shape::length; }  // in its segment
  __device__ equal_runs runs(unsigned pass) const { return {std::uint64_t{shape::length} << 2 * pass, segment.length}; }
};

template <class Bits, class Value>
__global__ void __launch_bounds__(merge_tile<Bits, Value>::group_size, merge_tile<Bits, Value>::groups)
    sort_long_tiles(const __grid_constant__ long_task<Bits, Value> w) {
  const placed_tile<Bits, Value> tile(w.tile[blockIdx.x]);
  const std::uint64_t first = tile.segment.begin + tile.begin();
  const std::uint64_t left = tile.segment.length - tile.begin();
  const unsigned passes = tile.passes();
  sort_one_tile(from_place(w.all.in, first), w.before(0, passes, first),
                static_cast<unsigned>(min(left, std::uint64_t{merge_tile<Bits, Value>::length})), tile.begin(),
                coding<Bits>{w.all.code, true, passes == 0});
}

template <class Bits, class Value>
__global__ void split_long_tiles(const __grid_constant__ long_task<Bits, Value> w, unsigned pass, unsigned tiles,
                                 split* splits) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= tiles) return;
  const placed_tile<Bits, Value> tile(w.tile[t]);
  const unsigned passes = tile.passes();
  if (pass >= passes) return;
  const equal_runs runs = tile.runs(pass);
  const auto group = runs.around(tile.begin());
  splits[t] = select<2>(static_cast<const Bits*>(w.before(pass, passes, tile.segment.begin).keys), runs, group,
                        tile.begin() - group.begin);
}

template <class Bits, class Value>
__global__ void __launch_bounds__(merge_tile<Bits, Value>::group_size, merge_tile<Bits, Value>::groups)
    merge_long_tiles(const __grid_constant__ long_task<Bits, Value> w, unsigned pass, const split* splits) {
  const placed_tile<Bits, Value> tile(w.tile[blockIdx.x]);
  const unsigned passes = tile.passes();
  if (pass >= passes) return;
  merge_one_tile(static_cast<unsigned>(tile.number), w.before(pass, passes, tile.segment.begin),
                 w.before(pass + 1, passes, tile.segment.begin), tile.runs(pass), splits + (blockIdx.x - tile.number),
                 coding<Bits>{w.all.code, false, pass + 1 == passes});
}

/// The sort of all long segments. Takes all memory when it is made.
template <class Bits, class Value>
class sort_of_long {
 public:
  /// `all` has n elements; `count` segments are long. Waits.
  sort_of_long(const segments_task<Bits, Value>& all, std::uint64_t n, const std::uint64_t* long_segment,
               std::uint64_t count, queue& q)
      : queue_(q),
        most_own_(n / own_length),
        most_tiles_(n / shape::length + count),
        words_(q, sizeof(found_tiles) + most_own_ * sizeof(segment_place) + most_tiles_ * sizeof(long_tile)),
        list_(list(all.offsets, long_segment, count)),
        passes_(passes_for(found_.most_of_a_segment)),
        spare_(q, passes_ == 0 ? 0 : n),
        splits_(q, passes_ == 0 ? 0 : found_.tiles * sizeof(split)),
        work_{all, spare_.all(), list_.tile} {}

  /// The segments that are sorts of their own, the longest first. Waits, unless there are none.
  std::vector<segment_place> sorts_of_their_own() const {
    std::vector<segment_place> own(found_.own);
    const std::uint64_t bytes = own.size() * sizeof(segment_place);
    if (own.empty()) return own;
    queue_.download(own.data(), backend::memory(words_).at(sizeof(found_tiles), bytes), bytes);
    std::sort(own.begin(), own.end(),
              [](const segment_place& a, const segment_place& b) { return a.length > b.length; });
    return own;
  }

  /// Enqueues the sort of all others.
  void enqueue() const {
    constexpr unsigned split_group = 64, group = shape::group_size;
    const auto tiles = static_cast<unsigned>(found_.tiles);
    if (tiles == 0) return;
    sort_long_tiles<<<tiles, group, 0, queue_.stream()>>>(work_);
    TW_CUDA(cudaGetLastError());
    for (unsigned pass = 0; pass < passes_; ++pass) {
      split_long_tiles<<<ceil_div(tiles, split_group), split_group, 0, queue_.stream()>>>(work_, pass, tiles,
                                                                                          splits_.as<split>());
      TW_CUDA(cudaGetLastError());
      merge_long_tiles<<<tiles, group, 0, queue_.stream()>>>(work_, pass, splits_.as<const split>());
      TW_CUDA(cudaGetLastError());
    }
  }

 private:
  using shape = merge_tile<Bits, Value>;

  tile_list list(const std::int64_t* offsets, const std::uint64_t* long_segment, std::uint64_t count) {
    auto* const found = words_.as<found_tiles>();
    auto* const own = reinterpret_cast<segment_place*>(found + 1);
    const tile_list to{found, reinterpret_cast<long_tile*>(own + most_own_), own};
    TW_CUDA(cudaMemsetAsync(found, 0, sizeof(found_tiles), queue_.stream()));
    list_tiles<shape::length><<<static_cast<unsigned>(count), 128, 0, queue_.stream()>>>(offsets, long_segment, to);
    TW_CUDA(cudaGetLastError());
    queue_.download(&found_, words_, sizeof found_);
    found_.tiles = std::min<unsigned long long>(found_.tiles, most_tiles_);
    found_.own = std::min<unsigned long long>(found_.own, most_own_);
    return to;
  }

  queue& queue_;
  const std::uint64_t most_own_, most_tiles_;
  const backend::buffer words_;
  found_tiles found_{};
  const tile_list list_;
  const unsigned passes_;
  const sort::workspace<Bits, Value> spare_;
  const backend::buffer splits_;
  const long_task<Bits, Value> work_;
};

}  // namespace tilewise::impl::segment_sort::on_cuda
