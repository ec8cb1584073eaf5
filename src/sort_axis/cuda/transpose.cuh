// SPDX-License-Identifier: Apache-2.0
// What:   a matrix becomes its transpose.
// Order:  none: bits are moved.
// Shape:  a group moves 32 x 32 elements through shared memory, so that it reads and writes rows.
// Limits: fewer than 2^31 groups; not in place.
// Twins:  tw_copy_lines in opencl/program.cl.
#pragma once

#include "sort_axis/cuda/job.cuh"

namespace tilewise::impl::sort_axis::on_cuda {

inline constexpr unsigned side = 32, rows_at_once = 8;

inline std::uint64_t transposing_groups(std::uint64_t rows, std::uint64_t columns) {
  return ceil_div(rows, std::uint64_t{side}) * ceil_div(columns, std::uint64_t{side});
}

template <class Bits>
__global__ void __launch_bounds__(side* rows_at_once)
    transpose_tile(const Bits* in, std::uint64_t in_stride, std::uint64_t rows, std::uint64_t columns, Bits* out,
                   std::uint64_t out_stride, unsigned bands) {
  __shared__ Bits moved[side][side + 1];
  const unsigned x = threadIdx.x % side, y = threadIdx.x / side, band = blockIdx.x / bands;
  const std::uint64_t row = std::uint64_t{band} * side, column = std::uint64_t{blockIdx.x - band * bands} * side;
#pragma unroll
  for (unsigned k = y; k < side; k += rows_at_once)
    if (row + k < rows && column + x < columns) moved[k][x] = in[(row + k) * in_stride + column + x];
  __syncthreads();
#pragma unroll
  for (unsigned k = y; k < side; k += rows_at_once)
    if (column + k < columns && row + x < rows) out[(column + k) * out_stride + row + x] = moved[x][k];
}

template <class Bits>
void transpose(const Bits* in, std::uint64_t in_stride, std::uint64_t rows, std::uint64_t columns, Bits* out,
               std::uint64_t out_stride, queue& q) {
  const auto bands = static_cast<unsigned>(ceil_div(columns, std::uint64_t{side}));
  transpose_tile<<<static_cast<unsigned>(transposing_groups(rows, columns)), side * rows_at_once, 0, q.stream()>>>(
      in, in_stride, rows, columns, out, out_stride, bands);
  TW_CUDA(cudaGetLastError());
}

}  // namespace tilewise::impl::sort_axis::on_cuda
