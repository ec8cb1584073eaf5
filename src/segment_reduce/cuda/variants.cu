// SPDX-License-Identifier: Apache-2.0
// What:   segment_reduce on CUDA: short segments by tiles of many, long ones by chunks and what is left of them.
// Order:  tile.cuh, survey.cuh.
// Shape:  a group for each tile. Finish: a small group for each long segment folds what is left on each level, from the
//         highest down.
// Limits: those of survey.cuh.
// Twins:  serial.cpp, cpu/variants.cpp.
#include "backend/cuda/dispatch.hpp"
#include "registry/variant.hpp"
#include "segment_reduce/cuda/survey.cuh"
#include "segment_reduce/problem.hpp"
#include "segment_reduce/segments.hpp"

namespace tilewise::impl::segment_reduce {

namespace {

constexpr unsigned finishing_group = 64;

/// P of a segment.
template <class Op, class T>
__device__ T fold_segment(tile_memory<T>& tile, const staged_segment& s) {
  const unsigned runs = s.runs();
  return fold_digits_of<Op, run_length / 2>(prefix_of_runs<Op>(tile, s, runs), s.begin + runs * run_length,
                                            s.length % run_length, [&](unsigned i) { return tile.element(i); });
}

template <class T, class Op>
__global__ void __launch_bounds__(group_size, groups_together)
    reduce_tiles(const __grid_constant__ segments<T> of, const tile_border* border, unsigned tiles) {
  __shared__ tile_memory<T> tile;
  for_each_tile(border, tiles, [&](const tile_border& from, const tile_border& to) {
    const tile_share mine(from, to);
    stage_tile(of.x, of.offsets, from, mine, tile);
    fold_runs<Op>(tile, mine.elements);
    for (unsigned k = threadIdx.x; k < mine.count; k += group_size) {
      const staged_segment s = segment_at(tile, k);
      of.out[from.segment + k] =
          s.length == 0 ? of.empty : order::canonical(Op::template apply<T>(of.first, fold_segment<Op>(tile, s)));
    }
  });
}

/// What is left of a segment on one level, folded by a small group.
template <class T>
struct rest_memory {
  static constexpr unsigned runs = chunk_length<T> / run_length;

  T element[place<T>(chunk_length<T>) + 1];
  T run[runs];
  T sixteen_runs[runs / run_length];
};

/// `prefix` continued by from[0..count), fewer elements than a chunk; only the first thread's result is meant.
template <class Op, class T>
__device__ T fold_rest(T prefix, const T* from, unsigned count, rest_memory<T>& rest) {
  if (count == 0) return prefix;
  for (unsigned i = threadIdx.x; i < count; i += finishing_group) rest.element[place<T>(i)] = __ldcg(from + i);
  __syncthreads();
  const unsigned runs = count / run_length, sixteens = runs / run_length;
  T x[run_length];
  if (const unsigned r = threadIdx.x; r < runs) {
#pragma unroll
    for (unsigned i = 0; i < run_length; ++i) x[i] = rest.element[place<T>(r * run_length + i)];
    rest.run[r] = tree_of<Op, run_length>(x);
  }
  __syncthreads();
  if (threadIdx.x < sixteens)
    rest.sixteen_runs[threadIdx.x] = tree_of<Op, run_length>(rest.run + threadIdx.x * run_length);
  __syncthreads();
  if (threadIdx.x == 0) {
    prefix = fold_digits_of<Op, rest_memory<T>::runs / run_length / 2>(
        prefix, 0, sixteens, [&](unsigned i) { return rest.sixteen_runs[i]; });
    prefix = fold_digits_of<Op, run_length / 2>(prefix, sixteens * run_length, runs % run_length,
                                                [&](unsigned i) { return rest.run[i]; });
    prefix = fold_digits_of<Op, run_length / 2>(prefix, runs * run_length, count % run_length,
                                                [&](unsigned i) { return rest.element[place<T>(i)]; });
  }
  __syncthreads();  // the next level's elements take the place of these
  return prefix;
}

template <class T, class Op>
__global__ void __launch_bounds__(finishing_group)
    finish_long(const __grid_constant__ segments<T> of, const __grid_constant__ levels_of<T> levels,
                const __grid_constant__ notes from) {
  __shared__ rest_memory<T> rest;
  for (std::uint64_t i = blockIdx.x; i < *from.long_segments + 1; i += gridDim.x) {
    const std::uint64_t s = from.long_segment[i];
    const auto begin = static_cast<std::uint64_t>(of.offsets[s]), end = static_cast<std::uint64_t>(of.offsets[s + 1]);
    T prefix = Op::template identity<T>();
    for (unsigned level = levels.count; level-- > 0;) {
      const std::uint64_t length = end - begin >> level * chunk_level<T>;
      const unsigned left = static_cast<unsigned>(length % chunk_length<T>);
      const T* const first = levels.at[level] + (begin >> level * chunk_level<T>)+(length - left);
      prefix = fold_rest<Op>(prefix, first, left, rest);
    }
    if (threadIdx.x == 0) of.out[s] = order::canonical(Op::template apply<T>(of.first, prefix));
  }
}

template <class T, class Op>
bool reduce_segments(const registry::problem& p, const registry::bindings& where, queue& here) {
  const segments<T> of{where.in[0].as<const T>(), offsets_of(p, where).data(), where.out[0].as<T>(), first_of<T, Op>(p),
                       empty_value<T, Op>(p)};
  segments_found<T> found(segmentation_of(p), of.offsets, of.x, here);
  if (!found.survey_offsets()) return false;
  reduce_tiles<T, Op><<<found.tile_groups(), group_size, 0, here.stream()>>>(of, found.found().border, found.tiles());
  TW_CUDA(cudaGetLastError());
  if (found.long_segments() == 0) return true;
  found.template reduce_all_chunks<Op>();
  finish_long<T, Op><<<found.groups_for(found.long_segments(), 1, 32), finishing_group, 0, here.stream()>>>(
      of, found.levels(), found.found());
  TW_CUDA(cudaGetLastError());
  return true;
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& q) {
  queue& here = enter(q);
  if (segments_of(p) == 0) return require_segments_on(segmentation_of(p), where.in[1], q);
  with_type_and_operator(p.type, operation_of(p), [&]<class T, class Op>(T, Op) {
    if (!reduce_segments<T, Op>(p, where, here)) refuse_offsets(segmentation_of(p), where.in[1], q);
  });
}

std::string unsupported(const registry::problem& p, const backend::device&, const registry::tuning&) {
  return too_many_tiles(segmentation_of(p));
}

}  // namespace

std::vector<registry::variant> segment_reduce_cuda_variants() {
  return {{.algorithm = "segment_reduce",
           .backend = "cuda",
           .name = "",
           .types = all_dtypes,
           .source = "merge-based division of work: Merrill and Garland, Merge-based parallel SpMV, SC 2016",
           .unsupported = unsupported,
           .run = run}};
}

}  // namespace tilewise::impl::segment_reduce
