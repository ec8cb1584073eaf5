// SPDX-License-Identifier: Apache-2.0
// What:   kernels with one fault each.
// Order:  none.
// Shape:  one group of 64 lanes, on 64 integers.
// Limits: none.
// Twins:  DISABLED_SeededFaults in tests/opencl_kernels_test.cpp.
#include "kernel_faults.hpp"

#include <stdexcept>

namespace tilewise::tests {

namespace {

constexpr unsigned lanes = 64;

__global__ void reads_beyond(int* x, int* y) { y[threadIdx.x] = x[threadIdx.x + 1]; }

__global__ void writes_beyond(int* x, int* y) { y[threadIdx.x + 1] = x[threadIdx.x]; }

__global__ void local_beyond(int* x, int* y) {
  extern __shared__ int shared[];
  shared[threadIdx.x + 1] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = shared[threadIdx.x];
}

__global__ void misaligned(int* x, int* y) {
  y[threadIdx.x] = *reinterpret_cast<int*>(reinterpret_cast<char*>(x) + 2 * (threadIdx.x % 2));
}

__global__ void no_barrier(int* x, int* y) {
  extern __shared__ int shared[];
  shared[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = shared[lanes - 1 - threadIdx.x];
}

__global__ void two_writers(int* x, int* y) {
  extern __shared__ int shared[];
  shared[threadIdx.x / 2] = x[threadIdx.x] + static_cast<int>(threadIdx.x);
  __syncthreads();
  y[threadIdx.x] = shared[threadIdx.x / 2];
}

__global__ void unset(int* x, int* y) { y[threadIdx.x] = x[lanes + threadIdx.x] + 1; }

__global__ void divergent(int* x, int* y) {
  if (threadIdx.x < lanes - 16) __syncthreads();
  y[threadIdx.x] = x[threadIdx.x];
}

__global__ void absent_lanes(int* x, int* y) {
  if (threadIdx.x % 2 == 0) __syncwarp(0xf);
  y[threadIdx.x] = x[threadIdx.x];
}

}  // namespace

void run_kernel_fault(const std::string& name) {
  constexpr std::size_t bytes = lanes * sizeof(int);
  const bool has_unset = name == "unset";  // as many more that nobody sets
  int *x = nullptr, *y = nullptr;
  cudaMalloc(&x, has_unset ? 2 * bytes : bytes);
  cudaMalloc(&y, bytes);
  cudaMemset(x, 0, bytes);
  if (name == "reads_beyond")
    reads_beyond<<<1, lanes>>>(x, y);
  else if (name == "writes_beyond")
    writes_beyond<<<1, lanes>>>(x, y);
  else if (name == "local_beyond")
    local_beyond<<<1, lanes, bytes>>>(x, y);
  else if (name == "misaligned")
    misaligned<<<1, lanes>>>(x, y);
  else if (name == "no_barrier")
    no_barrier<<<1, lanes, bytes>>>(x, y);
  else if (name == "two_writers")
    two_writers<<<1, lanes, bytes>>>(x, y);
  else if (name == "unset")
    unset<<<1, lanes>>>(x, y);
  else if (name == "divergent")
    divergent<<<1, lanes>>>(x, y);
  else if (name == "absent_lanes")
    absent_lanes<<<1, lanes>>>(x, y);
  else
    throw std::invalid_argument("there is no fault '" + name + "'");
  cudaDeviceSynchronize();
}

}  // namespace tilewise::tests
