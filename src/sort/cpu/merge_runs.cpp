// SPDX-License-Identifier: Apache-2.0
// What:   merges of given runs on the CPU.
// Order:  by code (code.hpp); of equal codes the earlier run's come first.
// Shape:  rounds that merge two neighbouring runs each, in pieces of equal length.
// Limits: workspace of the size of the input, if there are more than two runs.
// Twins:  merge.hpp, whose runs have the same length.
#include "sort/merge_runs.hpp"
#include "sort/cpu/merge.hpp"

namespace tilewise::impl::sort {

namespace {

/// A piece of what two runs merge to, by places in the whole.
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

void merge_runs_on_cpu(const registry::problem& p, const registry::bindings& where,
                       std::span<const std::uint64_t> border, backend::queue& queue) {
  with_task(p, where, [&]<class Bits, class Value>(const sort_task<Bits, Value>& task) {
    merge_all(task, {border.begin(), border.end()}, static_cast<backend::cpu::queue&>(queue));
  });
}

}  // namespace tilewise::impl::sort
