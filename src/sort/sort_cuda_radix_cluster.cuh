// What:   radix sort of an input that fits into the shared memory of one cluster of groups, in one launch.
// Order:  one stable pass a digit, the lowest first.
// Shape:  the input is one tile a group; a pass ranks a tile's keys in registers, sums the groups' counts of each
// digit,
//         and stores each key straight into the tile, its own or another group's, where it belongs.
// Limits: compute capability 9.0; cluster_capacity elements.
// Twins:  sort_cuda_radix_sweep.cuh.
#pragma once

#include "sort/sort_cuda_radix.cuh"

#include <cooperative_groups.h>

#include <bit>

namespace tilewise::impl::sort::on_cuda {

inline constexpr unsigned cluster_capability = 90;
inline constexpr unsigned cluster_rows = 4;    // a warp's keys: 32 a row
inline constexpr unsigned cluster_warps = 32;  // of a group
inline constexpr unsigned cluster_tile = cluster_rows * cluster_warps * warp_size;
inline constexpr unsigned most_groups = 16;  // what Hopper lets a cluster have; 8 where a program asks for no more
inline constexpr std::uint64_t cluster_capacity = most_groups * cluster_tile;

template <class Bits, class Value>
struct cluster_tile_memory {
  Bits keys[cluster_tile];
  Value values[moves<Value> ? cluster_tile : 1];
};

template <class Bits, class Value>
struct cluster_shared {
  cluster_tile_memory<Bits, Value> received;  // where groups store each other's keys
  cluster_tile_memory<Bits, Value> ordered;   // the group's own, by digit
  unsigned counts[cluster_warps][digit_values];
  unsigned totals[digit_values];  // the group's, for all groups to see
  unsigned to[digit_values];      // place among all, less place in `ordered`
  unsigned sums[2][digit_values / warp_size];
};

#if __CUDA_ARCH__ >= 900
/// Turns `counts` into places in `ordered`, and fills in `to`.
template <class Bits, class Value>
__device__ void place_digits(cluster_shared<Bits, Value>& s) {
  const auto cluster = cooperative_groups::this_cluster();
  const unsigned digit = threadIdx.x;
  unsigned own = 0;
  if (digit < digit_values) s.totals[digit] = own = sum_of_warps(s.counts, digit);
  cluster.barrier_arrive();
  const unsigned first = sum_before(own, s.sums[0]);
  if (digit < digit_values) to_places(s.counts, digit, first);
  cluster.barrier_wait();  // all groups' totals are there
  unsigned earlier = 0, total = 0;
  if (digit < digit_values) {
#pragma unroll 8
    for (unsigned g = 0; g < most_groups; ++g) {
      const unsigned theirs = g < gridDim.x ? cluster.map_shared_rank(s.totals, g)[digit] : 0;
      if (g < blockIdx.x) earlier += theirs;
      total += theirs;
    }
  }
  const unsigned begin = sum_before(total, s.sums[1]);
  if (digit < digit_values) s.to[digit] = begin + earlier - first;
}

/// Sends the keys in `ordered` to their groups' `received`, runs of neighbours together.
template <class Bits, class Value>
__device__ void send(cluster_shared<Bits, Value>& s, unsigned shift) {
  const auto cluster = cooperative_groups::this_cluster();
  Bits key[cluster_rows];
  unsigned place[cluster_rows];
#pragma unroll
  for (unsigned r = 0; r < cluster_rows; ++r) {
    const unsigned i = threadIdx.x + r * cluster_warps * warp_size;
    key[r] = s.ordered.keys[i];
    place[r] = s.to[digit_of(key[r], shift)] + i;
  }
#pragma unroll
  for (unsigned r = 0; r < cluster_rows; ++r) {
    auto& there = *cluster.map_shared_rank(&s.received, place[r] / cluster_tile);
    there.keys[place[r] % cluster_tile] = key[r];
    if constexpr (moves<Value>)
      there.values[place[r] % cluster_tile] = s.ordered.values[threadIdx.x + r * cluster_warps * warp_size];
  }
}
#endif

/// Writes the sorted keys in `ordered`, those past the end left out.
template <class Bits, class Value>
__device__ void write_sorted(const cluster_shared<Bits, Value>& s, unsigned shift, const sort_task<Bits, Value>& task) {
#pragma unroll
  for (unsigned r = 0; r < cluster_rows; ++r) {
    const unsigned i = threadIdx.x + r * cluster_warps * warp_size;
    const Bits key = s.ordered.keys[i];
    const unsigned place = s.to[digit_of(key, shift)] + i;
    if (place >= task.n) continue;
    task.out.keys[place] = task.code.decode(key);
    if constexpr (moves<Value>) task.out.values[place] = s.ordered.values[i];
  }
}

template <class Bits, class Value>
__global__ void __launch_bounds__(cluster_warps* warp_size, 1) cluster_sort(const sort_task<Bits, Value> task) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(16) unsigned char bytes[];
  auto& s = *reinterpret_cast<cluster_shared<Bits, Value>*>(bytes);
  const auto cluster = cooperative_groups::this_cluster();
  const unsigned warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size, n = static_cast<unsigned>(task.n);
  const unsigned in_tile = warp * cluster_rows * warp_size + lane;
  Bits key[cluster_rows];
  Value value[cluster_rows];
#pragma unroll
  for (unsigned r = 0; r < cluster_rows; ++r) {
    const unsigned i = blockIdx.x * cluster_tile + in_tile + r * warp_size;
    key[r] = i < n ? task.code.encode(task.in.keys[i]) : ~Bits{0};  // past the end come keys that stay there
    if constexpr (moves<Value>)
      if (i < n) value[r] = load_value(task.in.values, i);
  }
  for (unsigned shift = 0;; shift += digit_bits) {
    for (unsigned i = lane; i < digit_values; i += warp_size) s.counts[warp][i] = 0;
    __syncwarp();
    unsigned rank[cluster_rows];
    place_in_warp(key, shift, s.counts[warp], rank);
    __syncthreads();  // all warps have counted
    place_digits(s);
#pragma unroll
    for (unsigned r = 0; r < cluster_rows; ++r) rank[r] += s.counts[warp][digit_of(key[r], shift)];
#pragma unroll
    for (unsigned r = 0; r < cluster_rows; ++r) {
      s.ordered.keys[rank[r]] = key[r];
      if constexpr (moves<Value>) s.ordered.values[rank[r]] = value[r];
    }
    __syncthreads();  // the group's keys are in order, and `to` is complete
    const bool last = shift + digit_bits == 8 * sizeof(Bits);
    last ? write_sorted(s, shift, task) : send(s, shift);
    cluster.sync();  // all keys are in their groups; the others have read this group's totals, so it may end
    if (last) return;
#pragma unroll
    for (unsigned r = 0; r < cluster_rows; ++r) {
      key[r] = s.received.keys[in_tile + r * warp_size];
      if constexpr (moves<Value>) value[r] = s.received.values[in_tile + r * warp_size];
    }
  }
#else
  __trap();
#endif
}

template <class Bits, class Value>
bool fits_cluster(const sort_task<Bits, Value>& task, const queue& q) {
  return task.n <= cluster_capacity && q.device().info().compute_capability >= cluster_capability;
}

template <class Bits, class Value>
void sort_in_cluster(const sort_task<Bits, Value>& task, queue& q) {
  constexpr unsigned bytes = sizeof(cluster_shared<Bits, Value>);
  const auto kernel = cluster_sort<Bits, Value>;
  TW_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  TW_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = std::bit_ceil(static_cast<unsigned>((task.n + cluster_tile - 1) / cluster_tile));
  cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  cudaLaunchConfig_t how{};
  how.gridDim = cluster.val.clusterDim.x;
  how.blockDim = cluster_warps * warp_size;
  how.dynamicSmemBytes = bytes;
  how.stream = q.stream();
  how.attrs = &cluster;
  how.numAttrs = 1;
  TW_CUDA(cudaLaunchKernelEx(&how, kernel, task));
}

}  // namespace tilewise::impl::sort::on_cuda
