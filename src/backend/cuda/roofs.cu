// SPDX-License-Identifier: Apache-2.0
// What:   a device's peaks: chains of multiply-adds in registers, and reading its memory again and again.
// Order:  each chain is c = fma(c, a, b), the operation of a matrix product. Integers multiply and add, and so do
//         floats if product and sum are rounded separately. In fp64 the tensor cores compute the same chain if they are
//         faster: 16 steps at a time on compute capability 9.0, where the four-step instruction has half the rate, and
//         four steps on older devices.
// Shape:  8 groups of 256 per multiprocessor, 16 chains per item; or 4 accumulators of 16 x 8 per warp.
// Limits: each step of a chain depends on the one before, so no compiler can shorten it. Reads bypass the
//         multiprocessor's own cache, which is empty when a kernel starts.
// Twins:  cpu/fma_kernels.cpp, cpu/read_kernels.cpp, opencl/fma.cl, opencl/read.cl.
#include "backend/cuda/error.hpp"
#include "backend/cuda/queue.hpp"
#include "backend/roofs.hpp"

#include <algorithm>
#include <type_traits>

namespace tilewise::backend::cuda {

namespace {

constexpr unsigned group_size = 256, groups_a_unit = 8, chains = 16, steps = 2048;
constexpr unsigned accumulators = 4, tensor_steps = 16, tensor_operations = 2 * 16 * 8 * tensor_steps;

template <class T, bool Fused>
__global__ void run_chains(T a, T b, T* never) {
  T c[chains];
#pragma unroll
  for (unsigned i = 0; i < chains; ++i) c[i] = static_cast<T>(threadIdx.x + i);
#pragma unroll 4
  for (unsigned step = 0; step < steps; ++step)
#pragma unroll
    for (unsigned i = 0; i < chains; ++i)
      if constexpr (Fused && std::is_floating_point_v<T>)
        c[i] = fma(c[i], a, b);
      else
        c[i] = c[i] * a + b;
  T sum = 0;
#pragma unroll
  for (unsigned i = 0; i < chains; ++i) sum += c[i];
  if (never != nullptr) never[threadIdx.x] = sum;
}

/// C = C + A B for C of 16 x 8. All elements of A are equal, and so are B's, so every element of C is a chain of 16
/// steps.
__device__ void multiply_add_tensor(double (&c)[4], double a, double b) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %4, %4, %4, %4, %4, %4, %4}, "
      "{%5, %5, %5, %5}, {%0, %1, %2, %3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a), "d"(b));
#else
#pragma unroll
  for (unsigned step = 0; step < tensor_steps; step += 4)
#pragma unroll
    for (unsigned half = 0; half < 4; half += 2)
      asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                   : "+d"(c[half]), "+d"(c[half + 1])
                   : "d"(a), "d"(b));
#endif
}

__global__ void run_tensor_chains(double a, double b, double* never) {
  double c[accumulators][4];
#pragma unroll
  for (unsigned i = 0; i < accumulators; ++i)
    for (double& element : c[i]) element = threadIdx.x + i;
#pragma unroll 4
  for (unsigned step = 0; step < steps; step += tensor_steps)
#pragma unroll
    for (unsigned i = 0; i < accumulators; ++i) multiply_add_tensor(c[i], a, b);
  double sum = 0;
#pragma unroll
  for (unsigned i = 0; i < accumulators; ++i) sum += (c[i][0] + c[i][1]) + (c[i][2] + c[i][3]);
  if (never != nullptr) never[threadIdx.x] = sum;
}

/// Each work-item has four loads in flight. `vectors` must be below 2^31.
__global__ void read_again(const uint4* from, unsigned vectors, unsigned passes, uint4* never) {
  const unsigned items = gridDim.x * blockDim.x, item = blockIdx.x * blockDim.x + threadIdx.x;
  uint4 seen = {0, 0, 0, 0};
  for (unsigned pass = 0; pass < passes; ++pass) {
    // Each pass begins at another place, so that a multiprocessor does not read the same data again.
    const unsigned begin = (item + pass * (items / 2 + 31 * blockDim.x)) % vectors;
#pragma unroll 4
    for (unsigned i = 0; i < vectors; i += items) {
      const unsigned at = begin + i;
      const uint4 v = __ldcg(from + (at < vectors ? at : at - vectors));
      seen.x ^= v.x, seen.y ^= v.y, seen.z ^= v.z, seen.w ^= v.w;
    }
  }
  if (never != nullptr) never[item] = seen;
}

/// Other devices have slow fp64 tensor cores.
bool has_fast_tensor_f64(unsigned capability) { return capability == 80 || capability == 90; }

template <bool Fused>
double run_chains_of(const queue& on, dtype type) {
  const unsigned groups = on.device().info().compute_units * groups_a_unit;
  with_type(type, [&]<class T>(T) {
    using number = std::conditional_t<std::is_floating_point_v<T>, T,
                                      std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;
    constexpr bool is_fused = Fused || !std::is_floating_point_v<T>;
    run_chains<number, is_fused><<<groups, group_size, 0, on.stream()>>>(static_cast<number>(0.5), 3, nullptr);
  });
  TW_CUDA(cudaGetLastError());
  return 2.0 * groups * group_size * chains * steps;
}

}  // namespace

double queue::multiply_add(dtype type) {
  make_current();
  const device_info& info = device().info();
  if (type != dtype::f64 || !has_fast_tensor_f64(info.compute_capability)) return run_chains_of<true>(*this, type);
  const unsigned groups = info.compute_units * groups_a_unit;
  run_tensor_chains<<<groups, group_size, 0, stream_>>>(0.5, 3, nullptr);
  TW_CUDA(cudaGetLastError());
  return static_cast<double>(groups) * (group_size / 32) * accumulators * (steps / tensor_steps) * tensor_operations;
}

double multiply_then_add(backend::queue& on, dtype type) { return run_chains_of<false>(enter(on), type); }

double read(backend::queue& on, memory what) {
  queue& here = enter(on);
  constexpr std::uint64_t bytes_a_call = std::uint64_t{1} << 30;
  const unsigned groups = here.device().info().compute_units * groups_a_unit;
  const auto vectors = static_cast<unsigned>(what.bytes / sizeof(uint4));
  const std::uint64_t items = std::uint64_t{groups} * group_size, loads = (vectors + items - 1) / items;
  const auto passes = static_cast<unsigned>(std::max<std::uint64_t>(1, bytes_a_call / what.bytes));
  read_again<<<groups, group_size, 0, here.stream()>>>(what.as<const uint4>(), vectors, passes, nullptr);
  TW_CUDA(cudaGetLastError());
  return static_cast<double>(loads * items * sizeof(uint4)) * passes;
}

void launch(backend::queue& on) {
  read_again<<<1, group_size, 0, enter(on).stream()>>>(nullptr, 1, 0, nullptr);
  TW_CUDA(cudaGetLastError());
}

/// One load per work-item.
std::uint64_t least_read(const device_info& on) {
  return std::uint64_t{on.compute_units} * groups_a_unit * group_size * sizeof(uint4);
}

}  // namespace tilewise::backend::cuda
