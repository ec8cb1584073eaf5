// SPDX-License-Identifier: Apache-2.0
// What:   merge sort on the CPU, parallel even in the last merge; also merges given runs.
// Order:  by code (code.hpp); where codes are equal, the left one, or that of the earlier run, comes first.
// Shape:  a worker sorts a tile in its cache; then the rounds of merge.hpp follow. Given runs: each round merges pairs
//         of neighbouring runs, in pieces of equal length.
// Limits: workspace of the size of the input; for given runs only if there are more than two. Works in place.
// Twins:  serial.cpp; the kernels are in merge_kernels.cpp.
#include "sort/cpu/merge.hpp"
#include "base/ceil_div.hpp"
#include "sort/cpu/methods.hpp"
#include "sort/merge_runs.hpp"

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

// Given runs.

/// A piece of the merge of two runs. All positions count from the beginning of the whole array.
struct merged_piece {
  std::uint64_t first, second, last;  // where the runs begin, and their end
  std::uint64_t begin, end;
};

std::vector<merged_piece> pieces_of(std::span<const std::uint64_t> border) {
  constexpr std::uint64_t merged_at_once = 32768;
  std::vector<merged_piece> all;
  for (std::size_t i = 0; i + 1 < border.size(); i += 2) {
    const std::uint64_t last = border[std::min(i + 2, border.size() - 1)];
    for (std::uint64_t begin = border[i]; begin < last; begin += merged_at_once)
      all.push_back({border[i], border[i + 1], last, begin, std::min(last, begin + merged_at_once)});
  }
  return all;
}

template <class Bits, class Value>
elements<Bits, Value> from(elements<Bits, Value> where, std::uint64_t begin) {
  where.keys += begin;
  if constexpr (moves<Value>) where.values += begin;
  return where;
}

template <class Bits, class Value>
sorted_run<Bits, Value> run_at(elements<Bits, Value> where, std::uint64_t begin, std::uint64_t end) {
  return sorted_run<Bits, Value>{where.keys, where.values, 0}.piece(begin, end);
}

template <class Bits>
void encode(Bits* keys, std::uint64_t n, sort_code<Bits> code, backend::cpu::queue& queue) {
  constexpr std::uint64_t tile = 32768;
  if (code.is_identity()) return;
  queue.for_each_tile(ceil_div(n, tile), [&](std::uint64_t index, unsigned) {
    for (std::uint64_t i = index * tile; i < std::min(n, (index + 1) * tile); ++i) keys[i] = code.encode(keys[i]);
  });
}

template <class Bits, class Value>
void merge_all(const sort_task<Bits, Value>& task, std::vector<std::uint64_t> border, backend::cpu::queue& queue) {
  const auto& kernels = merge_kernels_for<Bits, Value>(queue.level());
  const unsigned rounds = rounds_of(border.size() - 1, 2);
  const workspace<Bits, Value> spare(queue, rounds == 1 ? 0 : task.n);
  encode(task.in.keys, task.n, task.code, queue);
  elements<Bits, Value> source = task.in;
  for (unsigned round = 1; round <= rounds; ++round) {
    const elements<Bits, Value> target = (rounds - round) % 2 == 0 ? task.out : spare.all();
    const sort_code<Bits> after = round == rounds ? task.code : sort_code<Bits>{};
    const std::vector<merged_piece> pieces = pieces_of(border);
    queue.for_each_tile(pieces.size(), [&](std::uint64_t i, unsigned) {
      const merged_piece& p = pieces[i];
      merge_between(kernels, run_at(source, p.first, p.second), run_at(source, p.second, p.last), p.begin - p.first,
                    p.end - p.first, after, from(target, p.begin));
    });
    border = merged_borders(border, 2);
    source = target;
  }
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

void merge_runs_on_cpu(const registry::problem& p, const registry::bindings& where,
                       std::span<const std::uint64_t> border, backend::queue& queue) {
  with_task(p, where, [&]<class Bits, class Value>(const sort_task<Bits, Value>& task) {
    merge_all(task, {border.begin(), border.end()}, static_cast<backend::cpu::queue&>(queue));
  });
}

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
