// SPDX-License-Identifier: Apache-2.0
// What:   merge sort: tiles in shared memory, then merges of four runs at a time in which every group writes an equal
//         piece. Few elements take one launch (few.cuh).
// Order:  of equal codes those of the earlier run come first, so equal codes keep their order.
// Shape:  a tile is sorted by a network in each lane's registers (merge_network.cuh), then by merges in
//         shared memory (merge_tile.cuh). Passes of merge_pass.cuh merge four runs each, so memory
//         is passed over half as often as by merges of two.
// Limits: none; works in place.
// Twins:  serial.cpp, opencl/merge.cl.
#include "base/ceil_div.hpp"
#include "sort/cuda/few.cuh"
#include "sort/cuda/merge_pass.cuh"

#include <algorithm>
#include <bit>

namespace tilewise::impl::sort {

namespace {

using namespace on_cuda;

template <class Bits, class Value, class Tile = merge_tile<Bits, Value>>
__global__ void __launch_bounds__(Tile::group_size, Tile::groups)
    sort_tiles(elements<Bits, Value> from, elements<Bits, Value> to, std::uint64_t n, coding<Bits> with) {
  const std::uint64_t begin = std::uint64_t{blockIdx.x} * Tile::length;
  sort_one_tile(from_place(from, begin), from_place(to, begin),
                static_cast<unsigned>(min(std::uint64_t{Tile::length}, n - begin)), begin, with);
}

template <class Bits, class Value>
void enqueue(const sort_task<Bits, Value>& task, queue& q) {
  if (is_few(task)) return enqueue_few(task, q);
  using tile = merge_tile<Bits, Value>;
  static_assert(most_few<Bits, Value> > tile::length);  // so there are several tiles
  const std::uint64_t tiles = ceil_div(task.n, tile::length);
  const auto passes = static_cast<unsigned>(std::bit_width(tiles - 1) + 1) / 2;
  const workspace<Bits, Value> spare(q, task.n);
  const backend::buffer splits(q, tiles * sizeof(split));
  // The last of all launches writes the output.
  const auto target = [&](unsigned pass) { return (passes - pass) % 2 == 0 ? task.out : spare.all(); };
  sort_tiles<<<static_cast<unsigned>(tiles), tile::group_size, 0, q.stream()>>>(task.in, target(0), task.n,
                                                                                coding<Bits>{task.code, true, false});
  TW_CUDA(cudaGetLastError());
  for (unsigned pass = 0; pass < passes; ++pass)
    merge_pass(target(pass), target(pass + 1), equal_runs{std::uint64_t{tile::length} << 2 * pass, task.n},
               splits.as<split>(), coding<Bits>{task.code, false, pass + 1 == passes}, q);
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& q) {
  if (p.n() == 0) return;
  with_task(p, where, [&](const auto& task) { enqueue(task, enter(q)); });
}

std::string unsupported(const registry::problem& p, const backend::device&, const registry::tuning&) {
  if (p.n() >= std::uint64_t{least_tile} << 31) return "a launch takes fewer than 2^31 groups";
  return "";
}

}  // namespace

registry::variant cuda_merge_path_variant() {
  return {.algorithm = "sort",
          .backend = "cuda",
          .name = "merge_path",
          .types = all_dtypes,
          .source =
              "Green, McColl, Bader, GPU Merge Path: A GPU Merging Algorithm, ICS 2012; tiles first by networks: "
              "Batcher, Sorting networks and their applications, 1968; merges of four runs per pass are our own",
          .unsupported = unsupported,
          .run = run};
}

}  // namespace tilewise::impl::sort
