// What:   merge sort: tiles in shared memory, then merges of neighbour runs in which every group writes an equal piece.
// Order:  of equal codes those of the left run come first, so equal codes keep their order.
// Shape:  a tile is sorted by exchanges of neighbours in each lane's registers, then by merges in shared memory. In a
//         merge of two runs, output place d splits both where a diagonal of the grid of comparisons meets the merge
//         path; a search finds the splits of every tile, and in the tile of every lane.
// Limits: none; works in place.
// Twins:  sort_serial.cpp, sort_merge.cl.
#include "backend/cuda/cuda_warp.cuh"
#include "sort/sort_cuda.cuh"

#include <bit>

namespace tilewise::impl::sort {

namespace {

using namespace on_cuda;

constexpr unsigned group_size = 512;
/// Elements of a lane. Odd, so that lanes that step through their pieces meet different banks.
template <class Bits, class Value>
constexpr unsigned held = sizeof(Bits) + value_bytes<Value> <= 8 ? 15 : 7;
template <class Bits, class Value>
constexpr unsigned tile_length = group_size* held<Bits, Value>;

template <class Bits, class Value>
struct tile_memory {
  Bits keys[tile_length<Bits, Value>];
  Value values[moves<Value> ? tile_length<Bits, Value> : 1];
};

/// How many of the first `diagonal` merged elements come from a[0, a_length); the others come from b.
template <class Index, class Bits>
__device__ Index merge_path(const Bits* a, Index a_length, const Bits* b, Index b_length, Index diagonal) {
  Index low = diagonal > b_length ? diagonal - b_length : 0, high = min(diagonal, a_length);
  while (low < high) {
    const Index middle = low + (high - low) / 2;
    if (a[middle] <= b[diagonal - 1 - middle])
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// A lane's elements in registers, with the places in the tile that they came from.
template <class Bits, class Value, unsigned Held>
struct held_elements {
  Bits key[Held];
  unsigned short from[moves<Value> ? Held : 1];
};

/// Merges this lane's piece, from `diagonal` on, of the tile's runs [a, a + a_length) and the b_length after it.
template <class Bits, class Value, unsigned Held>
__device__ void merge_piece(const Bits* keys, unsigned a, unsigned a_length, unsigned b_length, unsigned diagonal,
                            held_elements<Bits, Value, Held>& out) {
  const unsigned b = a + a_length, split = merge_path(keys + a, a_length, keys + b, b_length, diagonal);
  unsigned at_a = a + split, at_b = b + diagonal - split;
  const unsigned end_a = a + a_length, end_b = b + b_length;
  Bits next_a = at_a < end_a ? keys[at_a] : Bits{}, next_b = at_b < end_b ? keys[at_b] : Bits{};
#pragma unroll
  for (unsigned i = 0; i < Held; ++i) {
    const bool left = at_a < end_a && (at_b >= end_b || next_a <= next_b);
    out.key[i] = left ? next_a : next_b;
    if constexpr (moves<Value>) out.from[i] = static_cast<unsigned short>(left ? at_a : at_b);
    const unsigned next = left ? ++at_a : ++at_b;
    const Bits read = keys[min(next, tile_length<Bits, Value> - 1)];
    if (left)
      next_a = read;
    else
      next_b = read;
  }
}

/// Puts the lanes' elements back into the tile, each lane's from its own place on.
template <class Bits, class Value, unsigned Held>
__device__ void put_back(tile_memory<Bits, Value>& tile, const held_elements<Bits, Value, Held>& held_here) {
  const unsigned first = threadIdx.x * Held;
  Value value[moves<Value> ? Held : 1];
  if constexpr (moves<Value>) {
#pragma unroll
    for (unsigned i = 0; i < Held; ++i)
      value[i] = tile.values[min(unsigned{held_here.from[i]}, tile_length<Bits, Value> - 1)];
  }
  __syncthreads();  // all lanes have read
#pragma unroll
  for (unsigned i = 0; i < Held; ++i) {
    tile.keys[first + i] = held_here.key[i];
    if constexpr (moves<Value>) tile.values[first + i] = value[i];
  }
  __syncthreads();  // the tile is whole again
}

template <class Bits, class Value>
__device__ void write_tile(const tile_memory<Bits, Value>& tile, elements<Bits, Value> to, std::uint64_t begin,
                           unsigned length, const coding<Bits>& with) {
  for (unsigned i = threadIdx.x; i < length; i += group_size) {
    to.keys[begin + i] = with.stored(tile.keys[i]);
    if constexpr (moves<Value>) to.values[begin + i] = tile.values[i];
  }
}

/// Sorts each tile. Past the input's end lie the greatest codes; they stay behind it, since the sort is stable.
template <class Bits, class Value>
__global__ void __launch_bounds__(group_size)
    sort_tiles(elements<Bits, Value> from, elements<Bits, Value> to, std::uint64_t n, coding<Bits> with) {
  constexpr unsigned each = held<Bits, Value>, tile_size = tile_length<Bits, Value>;
  extern __shared__ __align__(16) unsigned char bytes[];
  auto& tile = *reinterpret_cast<tile_memory<Bits, Value>*>(bytes);
  const std::uint64_t begin = std::uint64_t{blockIdx.x} * tile_size;
  const unsigned length = static_cast<unsigned>(min(std::uint64_t{tile_size}, n - begin));
  for (unsigned i = threadIdx.x; i < tile_size; i += group_size) {
    tile.keys[i] = i < length ? with.loaded(from.keys[begin + i]) : ~Bits{0};
    if constexpr (moves<Value>)
      if (i < length) tile.values[i] = load_value(from.values, begin + i);
  }
  __syncthreads();  // the tile is loaded

  held_elements<Bits, Value, each> own;
#pragma unroll
  for (unsigned i = 0; i < each; ++i) {
    own.key[i] = tile.keys[threadIdx.x * each + i];
    if constexpr (moves<Value>) own.from[i] = static_cast<unsigned short>(threadIdx.x * each + i);
  }
#pragma unroll
  for (unsigned round = 0; round < each; ++round) {
#pragma unroll
    for (unsigned i = round % 2; i + 1 < each; i += 2) {
      const bool swap = own.key[i] > own.key[i + 1];
      const Bits low = swap ? own.key[i + 1] : own.key[i], high = swap ? own.key[i] : own.key[i + 1];
      own.key[i] = low, own.key[i + 1] = high;
      if constexpr (moves<Value>) {
        const unsigned short first = own.from[i], second = own.from[i + 1];
        own.from[i] = swap ? second : first, own.from[i + 1] = swap ? first : second;
      }
    }
  }
  put_back(tile, own);
  for (unsigned lanes = 1; lanes < group_size; lanes *= 2) {
    const unsigned pair = threadIdx.x / (2 * lanes) * (2 * lanes), run = lanes * each;
    merge_piece(tile.keys, pair * each, run, run, (threadIdx.x - pair) * each, own);
    put_back(tile, own);
  }
  write_tile(tile, to, begin, length, with);
}

/// The two runs that are merged at place `at`.
struct run_pair {
  std::uint64_t begin, middle, end;
  __device__ run_pair(std::uint64_t at, std::uint64_t run, std::uint64_t n)
      : begin(at / (2 * run) * (2 * run)), middle(min(begin + run, n)), end(min(begin + 2 * run, n)) {}
};

/// splits[t]: how far into the left run of its pair tile t begins.
template <class Bits>
__global__ void split_tiles(const Bits* keys, std::uint64_t n, std::uint64_t run, unsigned tile, std::uint64_t tiles,
                            std::uint64_t* splits) {
  const std::uint64_t t = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (t >= tiles) return;
  const run_pair pair(t * tile, run, n);
  splits[t] = merge_path(keys + pair.begin, pair.middle - pair.begin, keys + pair.middle, pair.end - pair.middle,
                         t * tile - pair.begin);
}

template <class Bits, class Value>
__global__ void __launch_bounds__(group_size)
    merge_tiles(elements<Bits, Value> from, elements<Bits, Value> to, std::uint64_t n, std::uint64_t run,
                const std::uint64_t* splits, coding<Bits> with) {
  constexpr unsigned each = held<Bits, Value>, tile_size = tile_length<Bits, Value>;
  extern __shared__ __align__(16) unsigned char bytes[];
  auto& tile = *reinterpret_cast<tile_memory<Bits, Value>*>(bytes);
  const std::uint64_t begin = std::uint64_t{blockIdx.x} * tile_size, end = min(begin + tile_size, n);
  const unsigned length = static_cast<unsigned>(end - begin);
  const run_pair pair(begin, run, n);
  const std::uint64_t split = splits[blockIdx.x];
  const std::uint64_t split_end = end == pair.end ? pair.middle - pair.begin : splits[blockIdx.x + 1];
  const std::uint64_t a = pair.begin + split, b = pair.middle + (begin - pair.begin - split);
  const unsigned a_length = static_cast<unsigned>(split_end - split);
#pragma unroll
  for (unsigned r = 0; r < each; ++r) {
    const unsigned i = threadIdx.x + r * group_size;
    if (i >= length) break;
    const std::uint64_t source = i < a_length ? a + i : b + (i - a_length);
    tile.keys[i] = from.keys[source];
    if constexpr (moves<Value>) tile.values[i] = from.values[source];
  }
  __syncthreads();  // both pieces are there
  held_elements<Bits, Value, each> own{};
  if (threadIdx.x * each < length) merge_piece(tile.keys, 0u, a_length, length - a_length, threadIdx.x * each, own);
  put_back(tile, own);
  write_tile(tile, to, begin, length, with);
}

template <class Bits, class Value>
void enqueue(const sort_task<Bits, Value>& task, queue& q) {
  constexpr unsigned tile = tile_length<Bits, Value>, bytes = sizeof(tile_memory<Bits, Value>), split_group = 128;
  const std::uint64_t tiles = (task.n + tile - 1) / tile;
  const auto passes = static_cast<unsigned>(std::bit_width(tiles - 1));
  const workspace<Bits, Value> spare(q, passes == 0 ? 0 : task.n);
  const backend::buffer splits(q, tiles * sizeof(std::uint64_t));
  // The last of all launches writes the output.
  const auto target = [&](unsigned pass) { return (passes - pass) % 2 == 0 ? task.out : spare.all(); };
  TW_CUDA(cudaFuncSetAttribute(sort_tiles<Bits, Value>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  TW_CUDA(cudaFuncSetAttribute(merge_tiles<Bits, Value>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  const auto groups = static_cast<unsigned>(tiles), split_groups = (groups + split_group - 1) / split_group;
  sort_tiles<<<groups, group_size, bytes, q.stream()>>>(task.in, target(0), task.n,
                                                        coding<Bits>{task.code, true, passes == 0});
  for (unsigned pass = 0; pass < passes; ++pass) {
    const std::uint64_t run = std::uint64_t{tile} << pass;
    split_tiles<<<split_groups, split_group, 0, q.stream()>>>(target(pass).keys, task.n, run, tile, tiles,
                                                              splits.as<std::uint64_t>());
    merge_tiles<<<groups, group_size, bytes, q.stream()>>>(target(pass), target(pass + 1), task.n, run,
                                                           splits.as<const std::uint64_t>(),
                                                           coding<Bits>{task.code, false, pass + 1 == passes});
  }
  TW_CUDA(cudaGetLastError());
}

void run(const registry::problem& p, const registry::memories& where, const registry::tuning&, backend::queue& q) {
  if (p.n() == 0) return;
  with_task(p, where, [&](const auto& task) { enqueue(task, enter(q)); });
}

std::string unsupported(const registry::problem& p, const backend::device&, const registry::tuning&) {
  if (p.n() >= std::uint64_t{group_size} << 31) return "a launch has fewer than 2^31 groups";
  return "";
}

}  // namespace

registry::variant cuda_merge_path_variant() {
  return {.algorithm = "sort",
          .backend = "cuda",
          .name = "merge_path",
          .types = all_dtypes,
          .source = "Green, McColl, Bader, GPU Merge Path: A GPU Merging Algorithm, ICS 2012",
          .unsupported = unsupported,
          .run = run};
}

}  // namespace tilewise::impl::sort
