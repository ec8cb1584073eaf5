// What:   merge sort on the CPU, parallel to the last merge.
// Order:  by code (sort_code.hpp); of equal codes the left one comes first, in every merge.
// Shape:  a worker sorts a tile in its cache; then passes in which every task merges an equal piece of the output.
//         Where a piece begins in both runs is found by binary search on a diagonal, so no piece waits for another.
// Limits: workspace of the size of the input; works in place.
// Twins:  sort_serial.cpp; the kernels are in sort_cpu_merge_kernels.cpp.
#include "base/ceil_div.hpp"
#include "sort/sort_cpu.hpp"
#include "sort/sort_cpu_merge_kernels.hpp"

#include <algorithm>
#include <bit>

namespace tilewise::impl::sort {

namespace {

constexpr std::array<unsigned, 3> tile_lengths{1024, 8192, 32768};
constexpr std::array<registry::tuning_axis, 1> axes{{{"tile", tile_lengths, 32768}}};

/// Merges after which runs of `length` have grown to n elements.
constexpr unsigned merges(std::uint64_t length, std::uint64_t n) {
  unsigned count = 0;
  for (; length < n; length *= 2) ++count;
  return count;
}

/// How many of the first `diagonal` elements of the merged runs come from `a`: their border with those from `b` is
/// where the merge path crosses the diagonal.
template <class Bits, class Value>
std::uint64_t taken_from_a(const sorted_run<Bits, Value>& a, const sorted_run<Bits, Value>& b, std::uint64_t diagonal) {
  std::uint64_t low = diagonal < b.n ? 0 : diagonal - b.n, high = std::min(diagonal, a.n);
  while (low < high) {
    const std::uint64_t middle = (low + high) / 2;
    if (b.keys[diagonal - 1 - middle] < a.keys[middle])
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

template <class Bits, class Value>
class merge_sort {
 public:
  merge_sort(const sort_task<Bits, Value>& task, std::uint64_t tile, backend::cpu::queue& queue)
      : task_(task),
        queue_(queue),
        kernels_(merge_kernels_for<Bits, Value>(queue.level())),
        tile_(tile),
        passes_(merges(rank_run, task.n)),
        between_(queue, task.n) {}

  void run() {
    const std::uint64_t tiles = ceil_div(task_.n, tile_);
    queue_.for_each_tile(
        tiles, [&](std::uint64_t tile, unsigned) { sort_tile(tile * tile_, std::min(task_.n, (tile + 1) * tile_)); });
    for (std::uint64_t length = tile_; length < task_.n; length *= 2)
      queue_.for_each_tile(tiles, [&](std::uint64_t tile, unsigned) {
        merge_piece(length, tile * tile_, std::min(task_.n, (tile + 1) * tile_));
      });
  }

 private:
  void sort_tile(std::uint64_t begin, std::uint64_t end) {
    const Value* values = nullptr;
    if constexpr (moves<Value>) values = task_.in.values == nullptr ? nullptr : task_.in.values + begin;
    kernels_.make_runs(task_.in.keys + begin, values, begin, end - begin, task_.code, code_after(0), at(0, begin));
    for (std::uint64_t length = rank_run; length < std::min(tile_, task_.n); length *= 2)
      for (std::uint64_t pair = begin; pair < end; pair += 2 * length)
        merge_piece(length, pair, std::min(end, pair + 2 * length));
  }

  /// [begin, end) of the output of the pass that merges runs of `length`; it lies in one pair of runs.
  void merge_piece(std::uint64_t length, std::uint64_t begin, std::uint64_t end) {
    const unsigned pass = merges(rank_run, length);
    const std::uint64_t first = begin / (2 * length) * (2 * length), second = std::min(task_.n, first + length);
    const auto a = run(pass, first, second), b = run(pass, second, std::min(task_.n, second + length));
    const std::uint64_t from = taken_from_a(a, b, begin - first), to = taken_from_a(a, b, end - first);
    kernels_.merge(run(pass, first + from, first + to),
                   run(pass, second + begin - first - from, second + end - first - to), code_after(pass + 1),
                   at(pass + 1, begin));
  }

  /// The elements after `pass` merges lie in the output and in the workspace alternately, the last ones in the output.
  elements<Bits, Value> at(unsigned pass, std::uint64_t begin) const {
    elements<Bits, Value> where = (passes_ - pass) % 2 == 0 ? task_.out : between_.all();
    where.keys += begin;
    if constexpr (moves<Value>) where.values += begin;
    return where;
  }
  sorted_run<Bits, Value> run(unsigned pass, std::uint64_t begin, std::uint64_t end) const {
    const elements<Bits, Value> where = at(pass, begin);
    return {where.keys, where.values, end - begin};
  }
  sort_code<Bits> code_after(unsigned pass) const { return pass == passes_ ? task_.code : sort_code<Bits>{}; }

  const sort_task<Bits, Value>& task_;
  backend::cpu::queue& queue_;
  const merge_kernels<Bits, Value>& kernels_;
  std::uint64_t tile_;
  unsigned passes_;
  workspace<Bits, Value> between_;
};

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning& t, backend::queue& q) {
  const auto [tile] = t.of(axes);
  with_task(p, where, [&]<class Bits, class Value>(const sort_task<Bits, Value>& task) {
    sort_by_merging(task, tile, static_cast<backend::cpu::queue&>(q));
  });
}

}  // namespace

template <class Bits, class Value>
void sort_by_merging(const sort_task<Bits, Value>& task, std::uint64_t tile, backend::cpu::queue& queue) {
  merge_sort<Bits, Value>(task, tile, queue).run();
}

#define TILEWISE_INSTANTIATE(Bits)                                                                           \
  template void sort_by_merging(const sort_task<Bits, nothing>&, std::uint64_t, backend::cpu::queue&);       \
  template void sort_by_merging(const sort_task<Bits, std::uint32_t>&, std::uint64_t, backend::cpu::queue&); \
  template void sort_by_merging(const sort_task<Bits, std::uint64_t>&, std::uint64_t, backend::cpu::queue&);
TILEWISE_INSTANTIATE(std::uint32_t)
TILEWISE_INSTANTIATE(std::uint64_t)

registry::variant cpu_merge_variant() {
  return {
      .algorithm = "sort",
      .backend = "cpu",
      .name = "merge",
      .types = all_dtypes,
      .source = "S. Odeh, O. Green, Z. Mwassi, O. Shmueli, Y. Birk, Merge Path - Parallel Merging Made Simple (2012)",
      .tuning = axes,
      .run = run};
}

}  // namespace tilewise::impl::sort
