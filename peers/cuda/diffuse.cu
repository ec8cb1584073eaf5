// SPDX-License-Identifier: Apache-2.0
// What:   diffuse/cuda:hiperc: HiPerC's GPU program. Each step is three kernels over fields with ghosts in global
//         memory: the boundaries, a mask of any size over tiles in shared memory, the update.
// Order:  its own, because taps of weight zero are multiplied too. Their products are zeros, so that a finite field
//         has the definition's bits.
// Shape:  groups of 32x32, one thread per element. In the mask's groups every thread copies an element of the tile, and
//         those around which the tile holds a whole mask compute one.
// Limits: rows below 2 GiB, and no more of them than a launch has groups for.
// Twins:  diffuse/serial.cpp, opencl/diffuse.cl, cpu/diffuse.cpp.
#include "diffuse/cuda/shared.cuh"
#include "peers/variants.hpp"

#include <algorithm>

namespace tilewise::peers {

namespace {

namespace cuda = backend::cuda;
namespace diffuse = impl::diffuse;

constexpr int group_side = 32;  // the original's, from its parameter file
constexpr int widest_mask = 5;

/// As a kernel's argument it is in constant memory.
template <class T>
struct square_mask {
  int width;
  T taps[widest_mask * widest_mask];

  explicit square_mask(const registry::problem& p) : width(2 * diffuse::radius_of(diffuse::mask_of(p)) + 1) {
    std::ranges::copy(diffuse::square_of(diffuse::mask_of(p), diffuse::weights_in<T>(p)), taps);
  }
};

/// A field's rows and columns, with this many ghosts on each side.
struct extent {
  std::int64_t rows, columns;
  int ghosts;

  __device__ bool is_field(std::int64_t j, std::int64_t i) const {
    return j >= ghosts && j < rows - ghosts && i >= ghosts && i < columns - ghosts;
  }
};

__device__ std::int64_t row_of(int side) { return std::int64_t{blockIdx.y} * side + threadIdx.y; }
__device__ std::int64_t column_of(int side) { return std::int64_t{blockIdx.x} * side + threadIdx.x; }

/// Each ghost takes the value of the nearest element. Only strips and ghosts are written, and a strip's value is
/// known, so no thread reads what another writes.
template <class T>
__global__ void set_boundaries(T* c, extent e, diffuse::field<T> f) {
  const std::int64_t j = row_of(group_side), i = column_of(group_side);
  if (j >= e.rows || i >= e.columns) return;
  const std::int64_t field_j = f.within(j - e.ghosts, f.rows), field_i = f.within(i - e.ghosts, f.columns);
  if (f.in_strip(field_j, field_i))
    c[j * e.columns + i] = 1;
  else if (!e.is_field(j, i))
    c[j * e.columns + i] = c[(field_j + e.ghosts) * e.columns + field_i + e.ghosts];
}

template <class T>
__global__ void convolve(const T* c, T* lap, extent e, const __grid_constant__ square_mask<T> mask) {
  __shared__ T tile[group_side][group_side];
  const int inner = group_side - 2 * e.ghosts, y = threadIdx.y, x = threadIdx.x;
  const std::int64_t j = row_of(inner), i = column_of(inner);
  if (j < e.rows && i < e.columns) tile[y][x] = c[j * e.columns + i];
  __syncthreads();
  const bool is_inner = y >= e.ghosts && y < group_side - e.ghosts && x >= e.ghosts && x < group_side - e.ghosts;
  if (!is_inner || !e.is_field(j, i)) return;
  T value = 0;
  for (int mj = 0; mj < mask.width; ++mj)
    for (int mi = 0; mi < mask.width; ++mi)
      value += mask.taps[mj * mask.width + mi] * tile[y + mj - e.ghosts][x + mi - e.ghosts];
  lap[j * e.columns + i] = value;
}

template <class T>
__global__ void update(const T* old, const T* lap, T* next, extent e, T rate) {
  const std::int64_t j = row_of(group_side), i = column_of(group_side);
  if (e.is_field(j, i)) next[j * e.columns + i] = old[j * e.columns + i] + rate * lap[j * e.columns + i];
}

/// Enough groups to cover all rows and columns, each with `side` of them.
dim3 groups_for(std::uint64_t rows, std::uint64_t columns, unsigned side) {
  return dim3(static_cast<unsigned>(ceil_div(columns, side)), static_cast<unsigned>(ceil_div(rows, side)));
}

template <class T>
void take_steps(const registry::problem& p, const T* field, T* result, cuda::queue& q) {
  const diffuse::field<T> f(p);
  const square_mask<T> mask(p);
  const int ghosts = mask.width / 2;
  const extent e{f.rows + 2 * ghosts, f.columns + 2 * ghosts, ghosts};
  const std::uint64_t row = f.columns * sizeof(T), pitch = e.columns * sizeof(T);
  const backend::buffer first(q, e.rows * pitch), second(q, e.rows * pitch), third(q, e.rows * pitch);
  T *old = first.as<T>(), *next = second.as<T>(), *const lap = third.as<T>();
  const std::int64_t corner = ghosts * e.columns + ghosts;
  const dim3 group(group_side, group_side), all = groups_for(e.rows, e.columns, group_side);
  const dim3 tiles = groups_for(f.rows, f.columns, group_side - 2 * ghosts);
  TW_CUDA(cudaMemcpy2DAsync(old + corner, pitch, field, row, row, f.rows, cudaMemcpyDeviceToDevice, q.stream()));
  for (std::uint64_t step = 0; step < diffuse::sizes(p).steps; ++step) {
    set_boundaries<<<all, group, 0, q.stream()>>>(old, e, f);
    TW_CUDA(cudaGetLastError());
    convolve<<<tiles, group, 0, q.stream()>>>(old, lap, e, mask);
    TW_CUDA(cudaGetLastError());
    update<<<all, group, 0, q.stream()>>>(old, lap, next, e, f.w.rate);
    TW_CUDA(cudaGetLastError());
    std::swap(old, next);
  }
  TW_CUDA(cudaMemcpy2DAsync(result, row, old + corner, pitch, row, f.rows, cudaMemcpyDeviceToDevice, q.stream()));
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& on) {
  auto& q = cuda::enter(on);
  if (diffuse::copies_only(p, where, q)) return;
  with_float(p.type, [&]<class T>(T) { take_steps(p, where.in[0].as<const T>(), where.out[0].as<T>(), q); });
}

std::string unsupported(const registry::problem& p, const backend::device&, const registry::tuning&) {
  constexpr std::uint64_t most_groups_down = 0xffff, longest_pitch = 0x7fffffff;
  const diffuse::sizes s(p);
  if (s.is_band()) return "it steps whole fields";
  if (s.rows > most_groups_down * (group_side - widest_mask + 1)) return "its groups need more rows than a launch has";
  const bool is_copied = (s.columns + widest_mask - 1) * size_of(p.type) <= longest_pitch;
  return is_copied ? "" : "its rows are longer than a copy's may be";
}

}  // namespace

std::vector<registry::variant> diffuse_cuda_variants() {
  return {{.algorithm = "diffuse",
           .backend = "cuda",
           .name = "hiperc",
           .order = registry::claim::own,
           .types = float_types,
           .source = "HiPerC's CUDA program, rewritten",
           .unsupported = unsupported,
           .run = run,
           .bound = 0,  // the laboratory's fields are finite
           .peer = true}};
}

}  // namespace tilewise::peers
