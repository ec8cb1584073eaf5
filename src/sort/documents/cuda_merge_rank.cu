// SPDX-License-Identifier: Apache-2.0
// What:   sort by merging runs of 1, 2, 4, ... elements, each element to its own place.
// Order:  an element's place in the merged run is its index in its own run plus its rank in the neighbour run: from the
//         left run by strictly smaller codes, from the right run by codes not greater, so equal codes keep their order.
// Shape:  one lane per element, one launch per level, two buffers alternately; the rank is a binary search in memory.
// Limits: none; works in place.
// Twins:  serial.cpp, opencl/merge.cl.
#include "base/ceil_div.hpp"
#include "sort/cuda/elements.cuh"

#include <bit>

namespace tilewise::impl::sort {

namespace {

using namespace on_cuda;

constexpr unsigned group_size = 256;

__device__ std::uint64_t own_index() { return std::uint64_t{blockIdx.x} * group_size + threadIdx.x; }

template <class Bits, class Value>
__device__ void move_element(elements<Bits, Value> from, std::uint64_t i, elements<Bits, Value> to, std::uint64_t place,
                             Bits key) {
  if constexpr (moves<Value>) to.values[place] = load_value(from.values, i);
  to.keys[place] = key;
}

template <class Bits, class Value>
__global__ void begin(elements<Bits, Value> from, elements<Bits, Value> to, std::uint64_t n, coding<Bits> with) {
  const std::uint64_t i = own_index();
  if (i < n) move_element(from, i, to, i, with.stored(with.loaded(from.keys[i])));
}

/// How many of x[begin, end) come before `code`; those equal to it too, if `equal_first`.
template <class Bits>
__device__ std::uint64_t rank_of(Bits code, const Bits* x, std::uint64_t begin, std::uint64_t end, bool equal_first) {
  std::uint64_t low = begin, high = end;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (x[middle] < code || (equal_first && x[middle] == code))
      low = middle + 1;
    else
      high = middle;
  }
  return low - begin;
}

template <class Bits, class Value>
__global__ void merge(elements<Bits, Value> from, elements<Bits, Value> to, std::uint64_t n, std::uint64_t run,
                      coding<Bits> with) {
  const std::uint64_t i = own_index();
  if (i >= n) return;
  const std::uint64_t pair = i / (2 * run) * (2 * run), middle = min(pair + run, n), end = min(pair + 2 * run, n);
  const Bits code = from.keys[i];
  const std::uint64_t place = i < middle ? i + rank_of(code, from.keys, middle, end, false)
                                         : i - (middle - pair) + rank_of(code, from.keys, pair, middle, true);
  move_element(from, i, to, place, with.stored(code));
}

template <class Bits, class Value>
void enqueue(const sort_task<Bits, Value>& task, queue& q) {
  const auto levels = static_cast<unsigned>(std::bit_width(task.n - 1));
  const workspace<Bits, Value> spare(q, levels == 0 ? 0 : task.n);
  // The last of all launches writes the output.
  const auto target = [&](unsigned level) { return (levels - level) % 2 == 0 ? task.out : spare.all(); };
  const auto groups = static_cast<unsigned>(ceil_div(task.n, group_size));
  begin<<<groups, group_size, 0, q.stream()>>>(task.in, target(0), task.n, coding<Bits>{task.code, true, levels == 0});
  TW_CUDA(cudaGetLastError());
  for (unsigned level = 0; level < levels; ++level) {
    merge<<<groups, group_size, 0, q.stream()>>>(target(level), target(level + 1), task.n, std::uint64_t{1} << level,
                                                 coding<Bits>{task.code, false, level + 1 == levels});
    TW_CUDA(cudaGetLastError());
  }
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& q) {
  if (p.n() == 0) return;
  with_task(p, where, [&](const auto& task) { enqueue(task, enter(q)); });
}

std::string unsupported(const registry::problem& p, const backend::device&, const registry::tuning&) {
  if (p.n() >= std::uint64_t{group_size} << 31) return "a launch takes fewer than 2^39 lanes";
  return "";
}

}  // namespace

registry::variant cuda_merge_rank_variant() {
  return {.algorithm = "sort",
          .backend = "cuda",
          .name = "merge_rank",
          .types = all_dtypes,
          .source =
              "merge sort by ranks: Satish, Harris, Garland, Designing Efficient Sorting Algorithms for Manycore "
              "GPUs, IPDPS 2009",
          .unsupported = unsupported,
          .run = run};
}

}  // namespace tilewise::impl::sort
