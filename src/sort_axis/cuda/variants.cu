// SPDX-License-Identifier: Apache-2.0
// What:   sort_axis on CUDA: which of the kernels sort a matrix's lines, by their length.
// Order:  by code (sort/code.hpp). Equal codes are equal bits, so every method gives the same lines.
// Shape:  lines of up to 16 elements are a thread's alone, those of up to a tile of the merge sort share one, and
//         longer rows are cut into tiles, which passes merge for all rows at once. Columns that do not lie side by side
//         in a tile by whole sectors are transposed, and back. Very long lines, and a single one, are sorts of their
//         own.
// Limits: fewer than 2^31 groups; workspace of the size of the input for lines that are longer than a tile, and for
//         columns that are transposed; works in place.
// Twins:  serial.cpp, opencl/program.cl.
#include "backend/cuda/dispatch.hpp"
#include "divide/each_line.hpp"
#include "sort_axis/cuda/rows.cuh"
#include "sort_axis/cuda/short.cuh"

namespace tilewise::impl::sort_axis {

namespace {

using namespace on_cuda;
using backend::cuda::enter, backend::cuda::too_many_groups;

// A matrix becomes its transpose, elsewhere: a group moves 32 x 32 elements through shared memory, so that it reads and
// writes rows. The twin is tw_copy_lines in opencl/program.cl.

constexpr unsigned side = 32, rows_at_once = 8;

std::uint64_t transposing_groups(std::uint64_t rows, std::uint64_t columns) {
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

template <class Bits>
void sort_rows(const job<Bits>& j, queue& q) {
  if (fits_a_tile<Bits>(j.from.length))
    sort_in_tiles<true>(j, q);
  else
    sort_long_rows(j, q);
}

/// Columns as the rows of a matrix of their own.
template <class Bits>
void sort_transposed(const registry::problem& of_line, const job<Bits>& j, queue& q) {
  const std::uint64_t count = j.from.count, length = j.from.length;
  const backend::buffer rows(q, count * length * sizeof(Bits));
  Bits* const there = rows.as<Bits>();
  const registry::lines packed{{count, length}, axis::rows};
  transpose(j.in, j.from.element, length, count, there, length, q);
  if (are_sorts_of_their_own(packed))
    divide::run_each_line(of_line, packed, packed, {.in = {rows}, .out = {rows}}, q);
  else
    sort_rows<Bits>({there, there, packed, packed, j.code}, q);
  transpose(static_cast<const Bits*>(there), length, count, length, j.out, j.to.element, q);
}

bool is_packed(const registry::problem& p) {
  return registry::is_packed(layout_of_input(p)) && registry::is_packed(layout_of_output(p));
}

template <class Bits>
void sort_lines(const registry::problem& p, const job<Bits>& j, queue& q) {
  const axis which = axis_of(p);
  if (j.from.length <= reduce_axis::items)
    sort_shortest(j, which == axis::rows, is_packed(p), q);
  else if (which == axis::rows)
    sort_rows(j, q);
  else if (fills_sectors<Bits>(j.from.length))
    sort_in_tiles<false>(j, q);
  else
    sort_transposed(sort_of_line(p), j, q);
  TW_CUDA(cudaGetLastError());
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& q) {
  const registry::lines from = lines_of_input(p);
  if (from.count == 0 || from.length == 0) return;
  if (are_sorts_of_their_own(p)) return divide::run_each_line(sort_of_line(p), from, lines_of_output(p), where, q);
  with_type(p.type, [&]<class T>(T) {
    using bits = sort::key_bits<T>;
    const job<bits> all{where.in[0].as<const bits>(), where.out[0].as<bits>(), from, lines_of_output(p),
                        sort::code_of<T>(is_descending(p))};
    sort_lines(p, all, enter(q));
  });
}

/// The most groups of any launch, or more.
std::uint64_t groups_for(const registry::problem& p) {
  const registry::lines from = lines_of_input(p);
  if (from.length <= reduce_axis::items)
    return reduce_axis::shape_for(from, axis_of(p) == axis::rows, is_packed(p)).groups_for(from);
  return std::max(from.count * ceil_div(from.length, std::uint64_t{sort::on_cuda::least_tile}),
                  transposing_groups(from.length, from.count));
}

std::string unsupported(const registry::problem& p, const backend::device&, const registry::tuning&) {
  const registry::lines from = lines_of_input(p);
  return from.count == 0 || from.length == 0 ? "" : too_many_groups(groups_for(p));
}

}  // namespace

std::vector<registry::variant> sort_axis_cuda_variants() {
  return {{.algorithm = "sort_axis",
           .backend = "cuda",
           .name = "",
           .types = all_dtypes,
           .source =
               "Batcher, Sorting networks and their applications, 1968; Green, McColl, Bader, GPU Merge Path: A GPU "
               "Merging Algorithm, ICS 2012, of each row or column",
           .unsupported = unsupported,
           .run = run}};
}

}  // namespace tilewise::impl::sort_axis
