// SPDX-License-Identifier: Apache-2.0
// What:   scan by the work-efficient up- and downsweep in shared memory, in three phases.
// Order:  tiles: the upsweep makes a tile's block value. spine: the prefixes of those values, by the same scan.
//         finish: the upsweep again, then a downsweep that starts with the tile's carry at the root and adds the left
//         sibling's block value at each step to the right, which makes P(i) for every i of the tile. An inclusive
//         output is the P of the next position; the last one of a tile is the next tile's carry. In a part of a longer
//         array the spine starts from the prefix before it, and the last inclusive output is of the prefix after it.
// Shape:  a tile is two elements for each lane of a group; log2(tile) levels with one barrier each.
// Limits: none; works in place.
// Twins:  serial.cpp, opencl/program.cl.
#include "backend/cuda/dispatch.hpp"
#include "backend/cuda/error.hpp"
#include "backend/cuda/queue.hpp"
#include "base/ceil_div.hpp"
#include "registry/variant.hpp"
#include "scan/cuda/shared.cuh"

namespace tilewise::impl::scan {

namespace {

using namespace backend::cuda;

/// Shared memory has 32 banks; one place in 33 is left out, so that strides of powers of two hit different banks.
__device__ unsigned place(unsigned i) { return i + i / 32; }
constexpr unsigned places(unsigned elements) { return elements + elements / 32; }

/// The tile's elements, with the identity from x[n] on.
template <class T, class Op>
__device__ void load_tile(T* tile, const T* x, std::uint64_t n) {
  const std::uint64_t first = std::uint64_t{blockIdx.x} * 2 * blockDim.x;
  for (unsigned i = threadIdx.x; i < 2 * blockDim.x; i += blockDim.x)
    tile[place(i)] = first + i < n ? x[first + i] : Op::template identity<T>();
}

/// Each block's value at its last place; the whole tile's value at the end.
template <class T, class Op>
__device__ void upsweep(T* tile) {
  for (unsigned half = 1; half <= blockDim.x; half *= 2) {
    __syncthreads();
    const unsigned right = (threadIdx.x + 1) * 2 * half - 1;
    if (right < 2 * blockDim.x)
      tile[place(right)] = Op::template apply<T>(tile[place(right - half)], tile[place(right)]);
  }
  __syncthreads();
}

/// Puts P(i) at place i, where P at the start of the tile is `carry`.
template <class T, class Op>
__device__ void downsweep(T* tile, T carry) {
  if (threadIdx.x == 0) tile[place(2 * blockDim.x - 1)] = carry;
  for (unsigned half = blockDim.x; half != 0; half /= 2) {
    __syncthreads();
    const unsigned right = (threadIdx.x + 1) * 2 * half - 1;
    if (right >= 2 * blockDim.x) continue;
    const T left_value = tile[place(right - half)], before = tile[place(right)];
    tile[place(right - half)] = before;
    tile[place(right)] = Op::template apply<T>(before, left_value);
  }
  __syncthreads();
}

template <class T>
__device__ T* shared_tile() {
  extern __shared__ __align__(8) unsigned char bytes[];
  return reinterpret_cast<T*>(bytes);
}

/// The block value of each whole tile.
template <class T, class Op>
__global__ void tiles(const T* x, T* value) {
  T* const tile = shared_tile<T>();
  load_tile<T, Op>(tile, x, ~std::uint64_t{0});
  upsweep<T, Op>(tile);
  if (threadIdx.x == 0) value[blockIdx.x] = tile[place(2 * blockDim.x - 1)];
}

/// out[i] for i < outputs, from the tiles of x[0..n) and their carries; no carries means one tile, which begins with
/// the first of `ends` (see carry_of).
template <class T, class Op>
__global__ void finish(const T* x, std::uint64_t n, T* out, std::uint64_t outputs, const T* carry, const T* ends,
                       output_rule<T, Op> rule) {
  T* const tile = shared_tile<T>();
  load_tile<T, Op>(tile, x, n);
  upsweep<T, Op>(tile);
  const T at_top = ends == nullptr ? Op::template identity<T>() : ends[0];
  downsweep<T, Op>(tile, carry == nullptr ? at_top : carry[blockIdx.x]);
  const unsigned length = 2 * blockDim.x;
  const std::uint64_t first = std::uint64_t{blockIdx.x} * length;
  for (unsigned i = threadIdx.x; i < length && first + i < outputs; i += blockDim.x) {
    const unsigned position = i + rule.shift;
    const bool is_end = ends != nullptr && rule.shift != 0 && first + i + 1 == n;
    out[first + i] = rule(is_end ? ends[1] : position < length ? tile[place(position)] : carry[blockIdx.x + 1]);
  }
}

template <class T, class Op>
void scan_values(const T* x, std::uint64_t n, T* out, std::uint64_t outputs, const T* ends, output_rule<T, Op> rule,
                 unsigned group_size, queue& q) {
  const std::uint64_t tile = 2 * group_size, whole = n / tile, groups = ceil_div(outputs, tile);
  const unsigned shared_bytes = places(2 * group_size) * static_cast<unsigned>(sizeof(T));
  const backend::buffer values(q, whole * sizeof(T)), carries(q, whole == 0 ? 0 : (whole + 1) * sizeof(T));
  if (whole != 0) {
    tiles<T, Op><<<static_cast<unsigned>(whole), group_size, shared_bytes, q.stream()>>>(x, values.as<T>());
    TW_CUDA(cudaGetLastError());
    // P of the values at 0, 1, ..., whole: the carry of each tile, and the one after the last whole tile.
    scan_values<T, Op>(values.as<T>(), whole, carries.as<T>(), whole + 1, ends, {Op::template identity<T>(), 0},
                       group_size, q);
  }
  finish<T, Op><<<static_cast<unsigned>(groups), group_size, shared_bytes, q.stream()>>>(x, n, out, outputs,
                                                                                         carries.as<T>(), ends, rule);
  TW_CUDA(cudaGetLastError());
}

// 256 on an H200: 128 is 6 % faster for 2^26 floats, but needs one more level for 2^16, which takes 1.6 times as long.
constexpr std::array<unsigned, 5> group_sizes{64, 128, 256, 512, 1024};
constexpr std::array<registry::tuning_axis, 1> axes{{{"group_size", group_sizes, 256}}};

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning& t, backend::queue& q) {
  const auto [group_size] = t.of(axes);
  if (p.n() == 0) return;
  with_type_and_operator(p.type, operation_of(p), [&]<class T, class Op>(T, Op) {
    scan_values<T, Op>(where.in[0].as<const T>(), p.n(), where.out[0].as<T>(), p.n(), carry_of<T>(p, where),
                       output_rule_of<T, Op>(p), group_size, enter(q));
  });
}

std::string unsupported(const registry::problem& p, const backend::device&, const registry::tuning& t) {
  const auto [group_size] = t.of(axes);
  return too_many_groups(ceil_div(p.n(), 2 * group_size));
}

}  // namespace

registry::variant cuda_blelloch_variant() {
  return {.algorithm = "scan",
          .backend = "cuda",
          .name = "blelloch",
          .types = all_dtypes,
          .source = "Blelloch, Prefix Sums and Their Applications, CMU-CS-90-190, 1990",
          .tuning = axes,
          .unsupported = unsupported,
          .run = run};
}

}  // namespace tilewise::impl::scan
