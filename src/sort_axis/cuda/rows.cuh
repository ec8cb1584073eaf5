// SPDX-License-Identifier: Apache-2.0
// What:   sorts rows that are longer than a tile, all at once.
// Order:  by code (sort/code.hpp).
// Shape:  the merge sort of sort/cuda/merge_path.cu, with tiles and merged runs that end where their row ends: each
//         launch has a group for each tile of each row.
// Limits: workspace of the size of the input.
// Twins:  opencl/rows.cl.
#pragma once

#include "sort_axis/cuda/job.cuh"

#include <bit>

namespace tilewise::impl::sort_axis::on_cuda {

/// The input and the output of a launch: rows in two memories.
template <class Bits>
struct rows_pass {
  Bits* from;
  std::uint64_t from_pitch;
  Bits* to;
  std::uint64_t to_pitch;
  unsigned tiles;  // tiles of a row
  sort::on_cuda::coding<Bits> with;
};

template <class Bits>
__global__ void __launch_bounds__(tile<Bits>::group_size, groups<tile<Bits>>)
    sort_tiles_of_rows(const __grid_constant__ rows_pass<Bits> w, std::uint64_t n) {
  const unsigned row = blockIdx.x / w.tiles;
  const std::uint64_t begin = std::uint64_t{blockIdx.x - row * w.tiles} * tile<Bits>::length;
  const unsigned length = n - begin < tile<Bits>::length ? static_cast<unsigned>(n - begin) : tile<Bits>::length;
  const sort::elements<Bits, nothing> from{w.from + row * w.from_pitch + begin, {}},
      to{w.to + row * w.to_pitch + begin, {}};
  sort::on_cuda::sort_one_tile(from, to, length, 0, w.with);
}

/// splits[t]: where tile t, counted through all rows, begins in each of the runs of its row that it merges.
template <class Bits>
__global__ void split_tiles_of_rows(const __grid_constant__ rows_pass<Bits> w, sort::on_cuda::equal_runs runs,
                                    unsigned all, sort::on_cuda::split* splits) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= all) return;
  const unsigned row = t / w.tiles;
  const std::uint64_t begin = std::uint64_t{t - row * w.tiles} * tile<Bits>::length;
  const auto group = runs.around(begin);
  splits[t] = select<2>(static_cast<const Bits*>(w.from + row * w.from_pitch), runs, group, begin - group.begin);
}

template <class Bits>
__global__ void __launch_bounds__(tile<Bits>::group_size, groups<tile<Bits>>)
    merge_tiles_of_rows(const __grid_constant__ rows_pass<Bits> w, sort::on_cuda::equal_runs runs,
                        const sort::on_cuda::split* splits) {
  const unsigned row = blockIdx.x / w.tiles;
  const sort::elements<Bits, nothing> from{w.from + row * w.from_pitch, {}}, to{w.to + row * w.to_pitch, {}};
  sort::on_cuda::merge_one_tile(blockIdx.x - row * w.tiles, from, to, runs, splits + row * w.tiles, w.with);
}

/// Rows that do not fit a tile.
template <class Bits>
void sort_long_rows(const job<Bits>& j, queue& q) {
  constexpr unsigned split_group = 64;
  const std::uint64_t n = j.from.length;
  const auto tiles = static_cast<unsigned>(ceil_div(n, std::uint64_t{tile<Bits>::length}));
  const unsigned passes = static_cast<unsigned>(std::bit_width(tiles - 1) + 1) / 2;
  const auto all = static_cast<unsigned>(tiles * j.from.count);
  const backend::buffer spare(q, j.from.count * n * sizeof(Bits)), splits(q, all * sizeof(sort::on_cuda::split));
  // The last of all launches writes the output.
  const auto to_of = [&](unsigned pass) { return (passes - pass) % 2 == 0 ? j.out : spare.as<Bits>(); };
  const auto pitch_of = [&](unsigned pass) { return (passes - pass) % 2 == 0 ? j.to.line : n; };
  sort_tiles_of_rows<<<all, tile<Bits>::group_size, 0, q.stream()>>>(
      rows_pass<Bits>{const_cast<Bits*>(j.in), j.from.line, to_of(0), pitch_of(0), tiles, {j.code, true, false}}, n);
  TW_CUDA(cudaGetLastError());
  for (unsigned pass = 0; pass < passes; ++pass) {
    const rows_pass<Bits> rows{to_of(pass),        pitch_of(pass), to_of(pass + 1),
                               pitch_of(pass + 1), tiles,          {j.code, false, pass + 1 == passes}};
    const sort::on_cuda::equal_runs runs{std::uint64_t{tile<Bits>::length} << 2 * pass, n};
    split_tiles_of_rows<<<ceil_div(all, split_group), split_group, 0, q.stream()>>>(rows, runs, all,
                                                                                    splits.as<sort::on_cuda::split>());
    TW_CUDA(cudaGetLastError());
    merge_tiles_of_rows<<<all, tile<Bits>::group_size, 0, q.stream()>>>(rows, runs,
                                                                        splits.as<const sort::on_cuda::split>());
    TW_CUDA(cudaGetLastError());
  }
}

}  // namespace tilewise::impl::sort_axis::on_cuda
