// What:   merge sort: tiles in shared memory, then merges of four runs at a time in which every group writes an equal
//         piece.
// Order:  of equal codes those of the earlier run come first, so equal codes keep their order.
// Shape:  a tile is sorted by a network in each lane's registers (sort_cuda_merge_network.cuh), then by merges in
//         shared memory (sort_cuda_merge_tile.cuh). A pass finds the ends of every tile's four pieces
//         (sort_cuda_merge_select.cuh), then loads them, merges the first with the second and the third with the
//         fourth, and merges the two results. So memory is passed over half as often as by merges of two.
// Limits: none; works in place.
// Twins:  sort_serial.cpp, sort_merge.cl.
#include "base/ceil_div.hpp"
#include "sort/sort_cuda_merge_select.cuh"
#include "sort/sort_cuda_merge_tile.cuh"
#include "sort/sort_merge_runs.hpp"

#include <cuda_pipeline.h>

#include <algorithm>
#include <bit>

namespace tilewise::impl::sort {

namespace {

using namespace on_cuda;

template <class Bits, class Value>
__device__ void write_keys(merge_tile<Bits, Value>& tile, Bits* to, unsigned length, const coding<Bits>& with) {
  for (unsigned i = threadIdx.x; i < length; i += blockDim.x) to[i] = with.stored(tile.keys()[i]);
}

/// Sorts each tile. Past the input's end lie the greatest codes; they stay after it, since the sort is stable.
template <class Bits, class Value, class Tile = merge_tile<Bits, Value>>
__global__ void __launch_bounds__(Tile::group_size, Tile::groups)
    sort_tiles(elements<Bits, Value> from, elements<Bits, Value> to, std::uint64_t n, coding<Bits> with) {
  __shared__ Tile tile;
  const std::uint64_t begin = std::uint64_t{blockIdx.x} * Tile::length;
  const unsigned length = static_cast<unsigned>(min(std::uint64_t{Tile::length}, n - begin));
#pragma unroll
  for (unsigned r = 0; r < Tile::held; ++r) {
    const unsigned i = threadIdx.x + r * Tile::group_size;
    tile.keys()[i] = i < length ? with.loaded(from.keys[begin + i]) : ~Bits{0};
  }
  __syncthreads();  // the tile is loaded
  sort_tile(tile);
  __syncthreads();  // and sorted
  write_keys(tile, to.keys + begin, length, with);
  if constexpr (moves<Value>) {
    __syncthreads();  // the keys are read
    for (unsigned i = threadIdx.x; i < length; i += Tile::group_size)
      tile.values()[i] = load_value(from.values, begin + i);
    __syncthreads();  // all values are stored
    for (unsigned i = threadIdx.x; i < length; i += Tile::group_size)
      to.values[begin + i] = tile.values()[tile.from()[i]];
  }
}

/// splits[t]: where tile t begins in each of the runs that it merges.
template <class Bits, class Runs>
__global__ void split_tiles(const Bits* keys, Runs runs, unsigned tile, std::uint64_t tiles, split* splits) {
  const std::uint64_t t = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (t >= tiles) return;
  const auto group = runs.around(t * tile);
  splits[t] = select(keys, runs, group, t * tile - group.begin);
}

/// The pieces of runs that a tile merges, side by side in it, every second one backwards.
struct tile_pieces {
  unsigned first[ways + 1];  // slots where they begin, and the end
  std::uint64_t base[ways];  // their place in memory, as if the piece had slot 0 too

  __device__ void lay_out(const split& begin, const split& end) {
    first[0] = 0;
#pragma unroll
    for (unsigned r = 0; r < ways; ++r) {
      first[r + 1] = first[r] + static_cast<unsigned>(end.at[r] - begin.at[r]);
      base[r] = r % 2 ? begin.at[r] + (first[r + 1] - 1) : begin.at[r] - first[r];
    }
  }
  template <class Runs>
  __device__ std::uint64_t source_of(unsigned slot, const Runs& runs) const {
    const unsigned r = (slot >= first[1]) + (slot >= first[2]) + (slot >= first[3]);
    return (r % 2 ? base[r] - slot : base[r] + slot) + runs.value_shift(r);
  }
};

template <class Bits, class Runs>
__device__ void load_pieces(const tile_pieces& pieces, const Bits* from, const Runs& runs, Bits* slots) {
#pragma unroll
  for (unsigned r = 0; r < ways; ++r) {
    const unsigned first = pieces.first[r], last = pieces.first[r + 1];
    const Bits* const source =
        from + (r % 2 ? pieces.base[r] - (last - 1) : pieces.base[r] + first) + runs.key_shift(r);
    Bits* const target = slots + (r % 2 ? last - 1 : first);
#pragma unroll 4
    for (unsigned i = threadIdx.x; i < last - first; i += blockDim.x)
      __pipeline_memcpy_async(r % 2 ? target - i : target + i, source + i, sizeof(Bits));
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  if constexpr (!Runs::are_codes) {
    __syncthreads();  // all pieces are loaded
    for (unsigned i = threadIdx.x; i < pieces.first[ways]; i += blockDim.x) slots[i] = runs.code(slots[i]);
  }
}

/// Merges the tile's four pieces.
template <class Bits, class Value, class Tile = merge_tile<Bits, Value>>
__device__ void merge_pieces(merge_tile<Bits, Value>& tile, const tile_pieces& pieces) {
  constexpr unsigned held = Tile::held;
  const unsigned half = pieces.first[2], length = pieces.first[4], half_lanes = ceil_div(half, held);
  const bool upper = threadIdx.x >= half_lanes;
  const facing_runs runs = upper ? facing_runs{half, pieces.first[3] - half, length - pieces.first[3], length}
                                 : facing_runs{0, pieces.first[1], half - pieces.first[1], half};
  const unsigned merged = runs.left + runs.right, diagonal = (threadIdx.x - (upper ? half_lanes : 0)) * held;
  typename Tile::piece own;
  if (diagonal < merged) merge_piece(tile, runs, diagonal, own);
  if (diagonal + held > merged) {  // the greatest codes fill the tile between the halves
#pragma unroll
    for (unsigned i = 0; i < held; ++i)
      if (diagonal + i >= merged) own.key[i] = ~Bits{0};
  }
  __syncthreads();  // all lanes have read
  put_back(tile, own, upper ? Tile::room - 1 - diagonal : diagonal, upper);
  __syncthreads();  // both halves are merged
  const unsigned first = threadIdx.x * held;
  if (first < length) {
    merge_piece(tile, {0, half, length - half, Tile::room}, first, own);
    look_up_places(tile, own);
  }
  __syncthreads();  // all lanes have read
  if (first < length) put_back(tile, own, first, false);
}

template <class Bits, class Value, class Runs, class Tile = merge_tile<Bits, Value>>
__global__ void __launch_bounds__(Tile::group_size, Tile::groups)
    merge_tiles(elements<Bits, Value> from, elements<Bits, Value> to, Runs runs, const split* splits,
                coding<Bits> with) {
  __shared__ Tile tile;
  __shared__ tile_pieces pieces;
  const std::uint64_t begin = std::uint64_t{blockIdx.x} * Tile::length, end = min(begin + Tile::length, runs.n);
  const unsigned length = static_cast<unsigned>(end - begin);
  if (threadIdx.x == 0) {
    const auto group = runs.around(begin);
    pieces.lay_out(splits[blockIdx.x], end == group.end() ? group.ends() : splits[blockIdx.x + 1]);
  }
  __syncthreads();  // the pieces to load are known
  load_pieces(pieces, from.keys, runs, tile.keys());
  __syncthreads();  // the pieces are loaded
  merge_pieces(tile, pieces);
  __syncthreads();  // and merged
  write_keys(tile, to.keys + begin, length, with);
  if constexpr (moves<Value>) {
    // Neighbours come from a few stretches of memory, so values are gathered from there. All are read before any is
    // stored: the compiler cannot know that a store leaves the others alone.
    Value value[Tile::held];
#pragma unroll
    for (unsigned r = 0; r < Tile::held; ++r) {
      const unsigned i = threadIdx.x + r * Tile::group_size;
      if (i < length) value[r] = from.values[pieces.source_of(tile.from()[i], runs)];
    }
#pragma unroll
    for (unsigned r = 0; r < Tile::held; ++r) {
      const unsigned i = threadIdx.x + r * Tile::group_size;
      if (i < length) to.values[begin + i] = value[r];
    }
  }
}

/// One pass: merges the runs of `from`, each group of `ways` into one.
template <class Bits, class Value, class Runs>
void merge_pass(elements<Bits, Value> from, elements<Bits, Value> to, const Runs& runs, split* splits,
                const coding<Bits>& with, queue& q) {
  using tile = merge_tile<Bits, Value>;
  constexpr unsigned split_group = 64;
  const auto groups = static_cast<unsigned>(ceil_div(runs.n, tile::length));
  split_tiles<<<ceil_div(groups, split_group), split_group, 0, q.stream()>>>(static_cast<const Bits*>(from.keys), runs,
                                                                             tile::length, groups, splits);
  merge_tiles<<<groups, tile::group_size, 0, q.stream()>>>(from, to, runs, static_cast<const split*>(splits), with);
}

template <class Bits, class Value>
void enqueue(const sort_task<Bits, Value>& task, queue& q) {
  using tile = merge_tile<Bits, Value>;
  const std::uint64_t tiles = ceil_div(task.n, tile::length);
  const auto passes = static_cast<unsigned>(std::bit_width(tiles - 1) + 1) / 2;
  const workspace<Bits, Value> spare(q, passes == 0 ? 0 : task.n);
  const backend::buffer splits(q, passes == 0 ? 0 : tiles * sizeof(split));
  // The last of all launches writes the output.
  const auto target = [&](unsigned pass) { return (passes - pass) % 2 == 0 ? task.out : spare.all(); };
  sort_tiles<<<static_cast<unsigned>(tiles), tile::group_size, 0, q.stream()>>>(
      task.in, target(0), task.n, coding<Bits>{task.code, true, passes == 0});
  for (unsigned pass = 0; pass < passes; ++pass)
    merge_pass(target(pass), target(pass + 1), equal_runs{std::uint64_t{tile::length} << 2 * pass, task.n},
               splits.as<split>(), coding<Bits>{task.code, false, pass + 1 == passes}, q);
  TW_CUDA(cudaGetLastError());
}

template <class Bits, class Value>
elements<Bits, Value> from_place(elements<Bits, Value> all, std::uint64_t begin) {
  all.keys += begin;
  if constexpr (moves<Value>) all.values += begin;
  return all;
}

/// What is to be added to `from + i` to reach `to`. All elements of a type have addresses that differ by multiples of
/// its size.
template <class T>
std::int64_t shift(const T* from, std::uint64_t i, const T* to) {
  const auto bytes = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to)) -
                     static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(from));
  return bytes / static_cast<std::int64_t>(sizeof(T)) - static_cast<std::int64_t>(i);
}

/// Up to `ways` runs, and where the first one lies.
template <class Bits, class Value>
std::pair<placed_runs<Bits>, elements<Bits, Value>> place(std::span<const sorted_place> runs,
                                                          const sort_code<Bits>& code) {
  placed_runs<Bits> placed;
  placed.coding = code;
  elements<Bits, Value> first{};
  for (unsigned r = 0; r < ways; ++r) {
    if (r < runs.size()) {
      const elements<Bits, Value> here{runs[r].keys.as<Bits>(), runs[r].values.as<Value>()};
      if (r == 0) first = here;
      placed.key_shift_of[r] = shift(first.keys, placed.n, here.keys);
      if constexpr (moves<Value>) placed.value_shift_of[r] = shift(first.values, placed.n, here.values);
      placed.n += runs[r].n;
    }
    placed.last.at[r] = placed.n;
  }
  return {placed, first};
}

std::vector<std::uint64_t> borders_of(std::span<const sorted_place> runs) {
  std::vector<std::uint64_t> border{0};
  for (const sorted_place& run : runs) border.push_back(border.back() + run.n);
  return border;
}

/// Passes over runs of any lengths; a pass has launches for each group of `ways` runs.
template <class Bits, class Value>
void merge_given(const sort_task<Bits, Value>& task, std::span<const sorted_place> placed, queue& q) {
  std::vector<std::uint64_t> border = borders_of(placed);
  const unsigned passes = rounds_of(placed.size(), ways);
  const workspace<Bits, Value> spare(q, passes == 1 ? 0 : task.n);
  const backend::buffer splits(q, ceil_div(task.n, merge_tile<Bits, Value>::length) * sizeof(split));
  elements<Bits, Value> source{};
  for (unsigned pass = 1; pass <= passes; ++pass) {
    const elements<Bits, Value> target = (passes - pass) % 2 == 0 ? task.out : spare.all();
    const coding<Bits> after{task.code, false, pass == passes};
    for (std::size_t i = 0; i + 1 < border.size(); i += ways) {
      const std::size_t last = std::min(i + ways, border.size() - 1);
      const auto to = from_place(target, border[i]);
      if (pass == 1) {
        const auto [runs, first] = place<Bits, Value>(placed.subspan(i, last - i), task.code);
        merge_pass(first, to, runs, splits.as<split>(), after, q);
        continue;
      }
      given_runs runs;
      for (unsigned r = 0; r < ways; ++r) runs.last.at[r] = border[std::min<std::size_t>(i + r + 1, last)] - border[i];
      runs.n = runs.last.at[ways - 1];
      merge_pass(from_place(source, border[i]), to, runs, splits.as<split>(), after, q);
    }
    border = merged_borders(border, ways);
    source = target;
  }
  TW_CUDA(cudaGetLastError());
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

void merge_runs_on_cuda(const registry::problem& p, std::span<const sorted_place> runs, const registry::bindings& where,
                        backend::queue& q) {
  with_task(p, where, [&](const auto& task) { merge_given(task, runs, enter(q)); });
}

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
