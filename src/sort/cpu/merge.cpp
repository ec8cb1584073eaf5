// SPDX-License-Identifier: Apache-2.0
// What:   merge sort on the CPU, parallel to the last merge.
// Order:  by code (code.hpp); of equal codes the left one comes first, in every merge.
// Shape:  a worker sorts a tile in its cache; then the rounds of merge.hpp.
// Limits: workspace of the size of the input; works in place.
// Twins:  serial.cpp; the kernels are in merge_kernels.cpp.
#include "sort/cpu/merge.hpp"
#include "base/ceil_div.hpp"
#include "sort/cpu/variants.hpp"

namespace tilewise::impl::sort {

namespace {

constexpr std::array<unsigned, 3> tile_lengths{1024, 8192, 32768};
constexpr std::array<registry::tuning_axis, 1> axes{{{"tile", tile_lengths, 32768}}};

template <class Bits, class Value>
class merge_sort {
 public:
  merge_sort(const sort_task<Bits, Value>& task, std::uint64_t tile, backend::cpu::queue& queue)
      : task_(task), tile_(tile), queue_(queue), rounds_(task, rank_run, queue) {}

  void run() {
    queue_.for_each_tile(ceil_div(task_.n, tile_), [&](std::uint64_t tile, unsigned) {
      sort_tile(tile * tile_, std::min(task_.n, (tile + 1) * tile_));
    });
    rounds_.run_from(tile_, tile_);
  }

 private:
  void sort_tile(std::uint64_t begin, std::uint64_t end) const {
    const Value* values = nullptr;
    if constexpr (moves<Value>) values = task_.in.values == nullptr ? nullptr : task_.in.values + begin;
    rounds_.kernels().make_runs(task_.in.keys + begin, values, begin, end - begin, task_.code, rounds_.code_after(0),
                                rounds_.at(0, begin));
    for (std::uint64_t length = rank_run; length < std::min(tile_, task_.n); length *= 2)
      for (std::uint64_t pair = begin; pair < end; pair += 2 * length)
        rounds_.merge_piece(length, pair, std::min(end, pair + 2 * length));
  }

  const sort_task<Bits, Value>& task_;
  std::uint64_t tile_;
  backend::cpu::queue& queue_;
  merge_rounds<Bits, Value> rounds_;
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
