// SPDX-License-Identifier: Apache-2.0
// What:   segment_scan on CUDA: short segments by tiles of many, long ones by chunks and what is left of them.
// Order:  runs of 16 and chunks are counted from each segment's begin, so they are blocks of that segment. The prefix
//         before a block is the fold of the blocks that the digits of its position name. The last inclusive result of a
//         block is the prefix before the next one, which need not be the prefix before it plus its value.
// Shape:  tiles: a thread writes a run, and what is left of a segment after its runs. Chunks: their values, level by
//         level; then, from the highest level down, the prefixes before them, and at last the results, each chunk by
//         one warp.
// Limits: those of segment_reduce/cuda/survey.cuh; works in place.
// Twins:  serial.cpp, cpu/variants.cpp.
#include "backend/cuda/dispatch.hpp"
#include "registry/variant.hpp"
#include "scan/cuda/shared.cuh"
#include "segment_reduce/cuda/survey.cuh"
#include "segment_scan/problem.hpp"

namespace tilewise::impl::segment_scan {

namespace {

using namespace segment_reduce;
using scan::output_rule;

template <class T, class Op>
struct work {
  const T* x;
  const std::int64_t* offsets;
  T* y;
  output_rule<T, Op> rule;
};

/// A tile, and the prefixes around its runs, by the window in which a run begins.
template <class T>
struct scan_memory {
  tile_memory<T> tile;
  T before[tile_memory<T>::windows], behind_last[tile_memory<T>::windows];
};

/// Writes the prefix before each run, and that behind the last run of each segment.
template <class Op, class T>
__device__ void find_prefixes(scan_memory<T>& memory, unsigned elements) {
  for_each_run(memory.tile, elements, [&](const staged_segment& s, unsigned w, unsigned) {
    const unsigned run = w - s.first_run();
    memory.before[w] = prefix_of_runs<Op>(memory.tile, s, run);
    if (run + 1 == s.runs()) memory.behind_last[w] = prefix_of_runs<Op>(memory.tile, s, run + 1);
  });
  __syncthreads();
}

/// Replaces `count` elements of the stage, at most Length, by their results. `behind` is the prefix behind all of them;
/// without it, it is computed here.
template <unsigned Length, class T, class Op>
__device__ void finish_run(const work<T, Op>& w, tile_memory<T>& tile, unsigned first, unsigned count, T before,
                           const T* behind = nullptr) {
  T x[Length], p[Length + 1];
#pragma unroll
  for (unsigned i = 0; i < Length; ++i) x[i] = i < count ? tile.element(first + i) : Op::template identity<T>();
  scan::prefixes<Op, Length>(x, before, p);
  p[Length] = behind != nullptr ? *behind : Op::template apply<T>(before, tree_of<Op, Length>(x));
#pragma unroll
  for (unsigned i = 0; i < Length; ++i)
    if (i < count) tile.elements()[place<T>(first + i)] = w.rule(w.rule.shift != 0 ? p[i + 1] : p[i]);
}

/// Less than a run: short segments, which have nothing else, are not to cost a whole one.
template <class T, class Op>
__device__ void finish_rest(const work<T, Op>& w, tile_memory<T>& tile, unsigned first, unsigned count, T before) {
  if (count > run_length / 2) return finish_run<run_length>(w, tile, first, count, before);
  if (count > run_length / 4) return finish_run<run_length / 2>(w, tile, first, count, before);
  if (count > run_length / 8) return finish_run<run_length / 4>(w, tile, first, count, before);
  if (count != 0) finish_run<run_length / 8>(w, tile, first, count, before);
}

template <class T, class Op>
__device__ void scan_tile(const work<T, Op>& w, const tile_border& from, const tile_share& mine,
                          scan_memory<T>& memory) {
  tile_memory<T>& tile = memory.tile;
  stage_tile(w.x, w.offsets, from, mine, tile);
  fold_runs<Op>(tile, mine.elements);
  find_prefixes<Op>(memory, mine.elements);
  for_each_run(tile, mine.elements, [&](const staged_segment& s, unsigned window, unsigned first) {
    const bool is_last = window - s.first_run() + 1 == s.runs();
    finish_run<run_length>(w, tile, first, run_length, memory.before[window],
                           is_last ? &memory.behind_last[window] : &memory.before[window + 1]);
  });
  for (unsigned k = threadIdx.x; k < mine.count; k += group_size) {
    const staged_segment s = segment_at(tile, k);
    const unsigned runs = s.runs(), left = s.length % run_length;
    const T before = runs == 0 ? Op::template identity<T>() : memory.behind_last[s.first_run() + runs - 1];
    finish_rest(w, tile, s.begin + runs * run_length, left, before);
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < mine.elements; i += group_size) w.y[from.begin + i] = tile.element(i);
}

template <class T, class Op>
__global__ void __launch_bounds__(group_size, groups_together)
    scan_tiles(const __grid_constant__ work<T, Op> w, const tile_border* border, unsigned tiles) {
  __shared__ scan_memory<T> memory;
  for_each_tile(border, tiles, [&](const tile_border& from, const tile_border& to) {
    scan_tile(w, from, tile_share(from, to), memory);
  });
}

/// By one warp: calls put(i, P(i), P(i + 1)) for each of the first `count` elements of a chunk, where P(0) is `before`.
/// Of a whole chunk, the last P(i + 1) is `behind`. Returns P(count) if that is less than a chunk.
template <class Op, class T, class Put>
__device__ T scan_chunk(const T* x, unsigned count, T before, T behind, const Put& put) {
  constexpr unsigned loads = chunk_length<T> / warp_size;
  const unsigned lane = threadIdx.x % warp_size;
  T value[loads], folded[loads];
#pragma unroll
  for (unsigned r = 0; r < loads; ++r) {
    const unsigned i = r * warp_size + lane;
    folded[r] = value[r] = i < count ? __ldcg(x + i) : Op::template identity<T>();
  }
  const T before_rows = scan::lanes_prefix<Op, loads>(rows_tree<Op, loads>(folded), before);
  T end = behind, from = __shfl_sync(all_lanes, before_rows, 0);
#pragma unroll
  for (unsigned r = 0; r < loads; ++r) {
    const T to = r + 1 < loads ? __shfl_sync(all_lanes, before_rows, (r + 1) % warp_size) : behind;
    const T p = scan::lanes_prefix<Op>(value[r], from), next = __shfl_down_sync(all_lanes, p, 1);
    const unsigned i = r * warp_size + lane;
    if (i < count) put(i, p, lane + 1 == warp_size ? to : next);
    if (count / warp_size == r) end = __shfl_sync(all_lanes, p, count % warp_size);
    from = to;
  }
  return end;
}

/// The prefixes before the chunks of each level, where their values are in levels_of; and before what is left of each
/// long segment after its chunks.
template <class T>
struct prefixes_of {
  T* before[most_levels + 1];
  T* before_rest;
};

/// What is left of a segment on a level.
template <class T>
struct rest {
  std::uint64_t first;  // its place on the level
  unsigned count;

  __device__ rest(std::uint64_t begin, std::uint64_t end, unsigned level) {
    const std::uint64_t length = end - begin >> level * chunk_level<T>;
    count = static_cast<unsigned>(length % chunk_length<T>);
    first = (begin >> level * chunk_level<T>)+(length - count);
  }
};

/// Each warp has a long segment: the prefixes before the chunks that are left on each level, the highest first.
template <class T, class Op>
__global__ void __launch_bounds__(group_size)
    descend_rests(const std::int64_t* offsets, const __grid_constant__ levels_of<T> levels,
                  const __grid_constant__ notes from, const __grid_constant__ prefixes_of<T> to) {
  const std::uint64_t warps = std::uint64_t{gridDim.x} * (group_size / warp_size);
  for (std::uint64_t i = (std::uint64_t{blockIdx.x} * group_size + threadIdx.x) / warp_size;
       i < *from.long_segments + 1; i += warps) {
    const std::uint64_t s = from.long_segment[i];
    const auto begin = static_cast<std::uint64_t>(offsets[s]), end = static_cast<std::uint64_t>(offsets[s + 1]);
    T prefix = Op::template identity<T>();
    for (unsigned level = levels.count; --level > 0;) {
      const rest<T> left(begin, end, level);
      T* const before = to.before[level] + left.first;
      prefix = scan_chunk<Op>(levels.at[level] + left.first, left.count, prefix, prefix,
                              [&](unsigned j, T p, T) { before[j] = p; });
    }
    if (threadIdx.x % warp_size == 0) to.before_rest[i] = prefix;
  }
}

/// Calls work(window, its first element on the level, whether another chunk of the segment follows) for the calling
/// warp's window of chunks of a level's elements, if one begins in it.
template <class T, class Work>
__device__ void with_chunk(const std::int64_t* offsets, const std::uint64_t* owner, std::uint64_t windows,
                           unsigned level, const Work& work) {
  const std::uint64_t w = std::uint64_t{blockIdx.x} * (group_size / warp_size) + threadIdx.x / warp_size;
  if (w >= windows || owner[w] == no_segment) return;
  const auto begin = static_cast<std::uint64_t>(offsets[owner[w]]) >> level * chunk_level<T>;
  const auto end = static_cast<std::uint64_t>(offsets[owner[w] + 1]);
  const std::uint64_t length = end - static_cast<std::uint64_t>(offsets[owner[w]]) >> (level + 1) * chunk_level<T>;
  work(w, w * chunk_length<T> + begin % chunk_length<T>, w - (begin >> chunk_level<T>)+1 < length);
}

/// The prefixes before the elements of each chunk, on a level above the lowest.
template <class T, class Op>
__global__ void __launch_bounds__(group_size)
    descend_chunks(const std::int64_t* offsets, const __grid_constant__ levels_of<T> levels,
                   const __grid_constant__ notes from, const __grid_constant__ prefixes_of<T> to, unsigned level,
                   std::uint64_t windows) {
  with_chunk<T>(offsets, from.owner[level], windows, level, [&](std::uint64_t w, std::uint64_t first, bool) {
    T* const before = to.before[level] + first;
    const T prefix = to.before[level + 1][w];
    scan_chunk<Op>(levels.at[level] + first, chunk_length<T>, prefix, prefix,
                   [&](unsigned i, T p, T) { before[i] = p; });
  });
}

/// The results of each chunk, but not the last inclusive one of a segment's last chunk.
template <class T, class Op>
__global__ void __launch_bounds__(group_size)
    finish_chunks(const __grid_constant__ work<T, Op> w, const __grid_constant__ notes from, const T* before,
                  std::uint64_t windows) {
  with_chunk<T>(w.offsets, from.owner[0], windows, 0, [&](std::uint64_t window, std::uint64_t first, bool goes_on) {
    const T behind = goes_on ? before[window + 1] : Op::template identity<T>();
    scan_chunk<Op>(w.x + first, chunk_length<T>, before[window], behind, [&](unsigned i, T p, T next) {
      if (w.rule.shift == 0 || goes_on || i + 1 != chunk_length<T>)
        w.y[first + i] = w.rule(w.rule.shift != 0 ? next : p);
    });
  });
}

/// The results of what is left of each long segment, and the one before that.
template <class T, class Op>
__global__ void __launch_bounds__(group_size)
    finish_rests(const __grid_constant__ work<T, Op> w, const __grid_constant__ notes from, const T* before_rest) {
  const std::uint64_t warps = std::uint64_t{gridDim.x} * (group_size / warp_size);
  for (std::uint64_t i = (std::uint64_t{blockIdx.x} * group_size + threadIdx.x) / warp_size;
       i < *from.long_segments + 1; i += warps) {
    const std::uint64_t s = from.long_segment[i];
    const auto begin = static_cast<std::uint64_t>(w.offsets[s]), end = static_cast<std::uint64_t>(w.offsets[s + 1]);
    const rest<T> left(begin, end, 0);
    const T prefix = before_rest[i];
    if (threadIdx.x % warp_size == 0 && w.rule.shift != 0 && left.first != begin) w.y[left.first - 1] = w.rule(prefix);
    scan_chunk<Op>(w.x + left.first, left.count, prefix, prefix,
                   [&](unsigned j, T p, T next) { w.y[left.first + j] = w.rule(w.rule.shift != 0 ? next : p); });
  }
}

/// Scans the long segments.
template <class T, class Op>
void scan_long(const work<T, Op>& w, segments_found<T>& found, queue& here) {
  const notes& noted = found.found();
  const backend::buffer memory(here, (found.window_count() + found.long_segments()) * sizeof(T));
  prefixes_of<T> prefix{.before_rest = memory.as<T>()};
  T* next = prefix.before_rest + found.long_segments();
  for (unsigned level = 0; level < noted.levels; ++level) {
    prefix.before[level + 1] = next;
    next += found.windows_on(level);
  }
  found.template reduce_all_chunks<Op>();
  const unsigned groups = found.groups_for(found.long_segments(), group_size / warp_size, 8);
  descend_rests<T, Op><<<groups, group_size, 0, here.stream()>>>(w.offsets, found.levels(), noted, prefix);
  TW_CUDA(cudaGetLastError());
  for (unsigned level = noted.levels; --level > 0;) {
    descend_chunks<T, Op><<<found.window_groups(level), group_size, 0, here.stream()>>>(
        w.offsets, found.levels(), noted, prefix, level, found.windows_on(level));
    TW_CUDA(cudaGetLastError());
  }
  finish_chunks<T, Op>
      <<<found.window_groups(0), group_size, 0, here.stream()>>>(w, noted, prefix.before[1], found.windows_on(0));
  TW_CUDA(cudaGetLastError());
  finish_rests<T, Op><<<groups, group_size, 0, here.stream()>>>(w, noted, prefix.before_rest);
  TW_CUDA(cudaGetLastError());
}

template <class T, class Op>
bool scan_segments(const registry::problem& p, const registry::bindings& where, queue& here) {
  const work<T, Op> w{where.in[0].as<const T>(), offsets_of(p, where).data(), where.out[0].as<T>(),
                      scan::output_rule_of<T, Op>(p)};
  segments_found<T> found(segmentation_of(p), w.offsets, w.x, here);
  if (!found.survey_offsets()) return false;
  if (found.long_segments() != 0) scan_long(w, found, here);  // first: it takes memory before it writes
  scan_tiles<T, Op><<<found.tile_groups(), group_size, 0, here.stream()>>>(w, found.found().border, found.tiles());
  TW_CUDA(cudaGetLastError());
  return true;
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& q) {
  queue& here = enter(q);
  if (segments_of(p) == 0) return require_segments_on(segmentation_of(p), where.in[1], q);
  with_type_and_operator(p.type, operation_of(p), [&]<class T, class Op>(T, Op) {
    if (!scan_segments<T, Op>(p, where, here)) refuse_offsets(segmentation_of(p), where.in[1], q);
  });
}

std::string unsupported(const registry::problem& p, const backend::device&, const registry::tuning&) {
  return too_many_tiles(segmentation_of(p));
}

}  // namespace

std::vector<registry::variant> segment_scan_cuda_variants() {
  return {{.algorithm = "segment_scan",
           .backend = "cuda",
           .name = "",
           .types = all_dtypes,
           .source = "merge-based division of work: Merrill and Garland, Merge-based parallel SpMV, SC 2016; upsweep "
                     "and downsweep: G. E. Blelloch, Prefix Sums and Their Applications (1990)",
           .unsupported = unsupported,
           .run = run}};
}

}  // namespace tilewise::impl::segment_scan
