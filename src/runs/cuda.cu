// SPDX-License-Identifier: Apache-2.0
// What:   runs on CUDA: mark the begins of each tile, scan their counts, write.
// Order:  none: nothing is computed with keys.
// Shape:  mark: a warp votes on 32 keys at a time, and keeps the votes as words of bits, one a lane. Keys are read once;
//         write reads the bits, lists the begins of a tile in shared memory, and writes them as memory lies.
// Limits: none.
// Twins:  serial.cpp, opencl.cl.
#include "backend/cuda/dispatch.hpp"
#include "backend/cuda/error.hpp"
#include "backend/cuda/queue.hpp"
#include "backend/cuda/warp.cuh"
#include "base/ceil_div.hpp"
#include "registry/variant.hpp"
#include "runs/problem.hpp"

namespace tilewise::impl::runs {

namespace {

using namespace backend::cuda;

constexpr unsigned group_size = 256, warps = group_size / warp_size;
constexpr unsigned words = group_size;  // of bits a tile, one a thread
constexpr unsigned tile = words * warp_size;
constexpr unsigned all_lanes = 0xffffffff;

template <class K>
__global__ void __launch_bounds__(group_size)
    mark(const K* keys, std::uint64_t n, std::uint32_t* marks, std::int64_t* counts) {
  __shared__ unsigned begins;
  const unsigned warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size;
  const std::uint64_t base = std::uint64_t{blockIdx.x} * tile + warp * (warp_size * warp_size);
  if (threadIdx.x == 0) begins = 0;
  std::uint32_t own = 0;
  constexpr unsigned at_once = 8;  // loads under way
#pragma unroll 1
  for (unsigned first = 0; first < warp_size; first += at_once) {
    K key[at_once], before[at_once];
#pragma unroll
    for (unsigned j = 0; j < at_once; ++j) {
      const std::uint64_t i = base + (first + j) * warp_size + lane;
      key[j] = i < n ? keys[i] : K{0};
      before[j] = i < n && i != 0 ? keys[i - 1] : K{0};
    }
#pragma unroll
    for (unsigned j = 0; j < at_once; ++j) {
      const std::uint64_t i = base + (first + j) * warp_size + lane;
      const unsigned votes = __ballot_sync(all_lanes, i < n && (i == 0 || key[j] != before[j]));
      if (lane == first + j) own = votes;
    }
  }
  marks[std::uint64_t{blockIdx.x} * words + threadIdx.x] = own;
  const unsigned sum = __reduce_add_sync(all_lanes, static_cast<unsigned>(__popc(own)));
  __syncthreads();  // the count is 0
  if (lane == 0 && sum != 0) atomicAdd(&begins, sum);
  __syncthreads();
  if (threadIdx.x == 0) counts[blockIdx.x] = begins;
}

template <class K>
__global__ void __launch_bounds__(group_size)
    write(const K* keys, std::uint64_t n, const std::uint32_t* marks, const std::int64_t* counts, K* run_keys,
          std::int64_t* offsets, std::uint64_t room) {
  __shared__ std::uint16_t list[tile];
  __shared__ unsigned of_warp[warps];
  const unsigned warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size;
  std::uint32_t bits = marks[std::uint64_t{blockIdx.x} * words + threadIdx.x];
  const unsigned own = static_cast<unsigned>(__popc(bits));
  unsigned up_to = own;
#pragma unroll
  for (unsigned step = 1; step < warp_size; step *= 2) {
    const unsigned before = __shfl_up_sync(all_lanes, up_to, step);
    if (lane >= step) up_to += before;
  }
  if (lane == warp_size - 1) of_warp[warp] = up_to;
  __syncthreads();
  unsigned count = 0, place = up_to - own;
#pragma unroll
  for (unsigned w = 0; w < warps; ++w) {
    if (w < warp) place += of_warp[w];
    count += of_warp[w];
  }
  for (; bits != 0; bits &= bits - 1)
    list[place++] = static_cast<std::uint16_t>(threadIdx.x * warp_size + static_cast<unsigned>(__ffs(bits)) - 1);
  __syncthreads();
  const auto first = static_cast<std::uint64_t>(blockIdx.x == 0 ? 0 : counts[blockIdx.x - 1]);
  for (unsigned r = threadIdx.x; r < count && first + r <= room; r += group_size) {
    const std::uint64_t i = std::uint64_t{blockIdx.x} * tile + list[r];
    offsets[first + r] = static_cast<std::int64_t>(i);
    if (first + r < room) run_keys[first + r] = keys[i];
  }
  const auto all = static_cast<std::uint64_t>(counts[gridDim.x - 1]);
  const std::uint64_t threads = std::uint64_t{gridDim.x} * group_size;
  for (std::uint64_t r = all + std::uint64_t{blockIdx.x} * group_size + threadIdx.x; r <= room; r += threads) {
    offsets[r] = static_cast<std::int64_t>(n);
    if (r < room) run_keys[r] = 0;
  }
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& q) {
  queue& here = enter(q);
  if (p.n() == 0) return write_none(where, q);
  const std::uint64_t tiles = ceil_div(p.n(), std::uint64_t{tile});
  const backend::buffer counts(q, tiles * sizeof(std::int64_t));
  auto* const count = counts.as<std::int64_t>();
  const backend::buffer bits(q, tiles * words * sizeof(std::uint32_t));
  auto* const marks = bits.as<std::uint32_t>();
  with_bits(p.type, [&]<class K>(K) {
    const K* const keys = where.in[0].as<const K>();
    mark<K><<<static_cast<unsigned>(tiles), group_size, 0, here.stream()>>>(keys, p.n(), marks, count);
    TW_CUDA(cudaGetLastError());
    add_up(counts, where.out[0], q);
    write<K><<<static_cast<unsigned>(tiles), group_size, 0, here.stream()>>>(
        keys, p.n(), marks, count, where.out[1].as<K>(), where.out[2].as<std::int64_t>(), room_of(p));
    TW_CUDA(cudaGetLastError());
  });
}

std::string unsupported(const registry::problem& p, const backend::device&, const registry::tuning&) {
  return too_many_groups(ceil_div(p.n(), std::uint64_t{tile}));
}

}  // namespace

std::vector<registry::variant> runs_cuda_variants() {
  return {{.algorithm = "runs",
           .backend = "cuda",
           .name = "",
           .types = all_dtypes,
           .source = "mark, scan, write: Blelloch, Prefix Sums and Their Applications, 1990, 1.5; votes of warps",
           .unsupported = unsupported,
           .run = run}};
}

}  // namespace tilewise::impl::runs
