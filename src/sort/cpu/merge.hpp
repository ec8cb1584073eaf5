// SPDX-License-Identifier: Apache-2.0
// Merges sorted runs on the CPU, in parallel even when only two runs are left.
#pragma once

#include "backend/cpu/device.hpp"
#include "base/ceil_div.hpp"
#include "sort/cpu/merge_kernels.hpp"
#include "sort/operands.hpp"

#include <algorithm>

namespace tilewise::impl::sort {

/// How many of the first `diagonal` elements of the merged runs come from `a`. This is where the merge path crosses the
/// diagonal.
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

/// Writes elements [begin, end) of the merge of `a` and `b`. Binary searches on diagonals find where they begin and end
/// in both runs, so no piece waits for another.
template <class Bits, class Value>
void merge_between(const merge_kernels<Bits, Value>& kernels, const sorted_run<Bits, Value>& a,
                   const sorted_run<Bits, Value>& b, std::uint64_t begin, std::uint64_t end, sort_code<Bits> after,
                   elements<Bits, Value> out) {
  const std::uint64_t from = taken_from_a(a, b, begin), to = taken_from_a(a, b, end);
  kernels.merge(a.piece(from, to), b.piece(begin - from, end - to), after, out);
}

/// Each round merges pairs of neighbouring runs; where codes are equal, those of the left run come first. All runs of
/// the first round have the same length, except that the last may be shorter. The rounds write the task's output and a
/// workspace alternately, the output last. Until the last round keys are stored as codes.
template <class Bits, class Value>
class merge_rounds {
 public:
  merge_rounds(const sort_task<Bits, Value>& task, std::uint64_t first_length, backend::cpu::queue& queue)
      : task_(task),
        queue_(queue),
        kernels_(merge_kernels_for<Bits, Value>(queue.level())),
        first_length_(first_length),
        count_(rounds_to(task.n)),
        between_(queue, count_ == 0 ? 0 : task.n) {}

  const merge_kernels<Bits, Value>& kernels() const { return kernels_; }

  /// Where the elements from `begin` on are after `round` rounds; code_after() is the code that their keys have there.
  elements<Bits, Value> at(unsigned round, std::uint64_t begin) const {
    elements<Bits, Value> where = (count_ - round) % 2 == 0 ? task_.out : between_.all();
    where.keys += begin;
    if constexpr (moves<Value>) where.values += begin;
    return where;
  }
  sort_code<Bits> code_after(unsigned round) const { return round == count_ ? task_.code : sort_code<Bits>{}; }

  /// Writes elements [begin, end) of the round that merges runs of `length`. They must lie in one pair of runs.
  void merge_piece(std::uint64_t length, std::uint64_t begin, std::uint64_t end) const {
    const unsigned round = rounds_to(length);
    const std::uint64_t first = begin / (2 * length) * (2 * length), second = std::min(task_.n, first + length);
    merge_between(kernels_, run(round, first, second), run(round, second, std::min(task_.n, second + length)),
                  begin - first, end - first, code_after(round + 1), at(round + 1, begin));
  }

  /// Runs all rounds from the one that merges runs of `length` on, in pieces of `tile` elements. `tile` must divide
  /// `length`.
  void run_from(std::uint64_t length, std::uint64_t tile) const {
    for (; length < task_.n; length *= 2)
      queue_.for_each_tile(ceil_div(task_.n, tile), [&](std::uint64_t i, unsigned) {
        merge_piece(length, i * tile, std::min(task_.n, (i + 1) * tile));
      });
  }

 private:
  /// How many rounds it takes until runs have n elements.
  unsigned rounds_to(std::uint64_t n) const {
    unsigned count = 0;
    for (std::uint64_t length = first_length_; length < n; length *= 2) ++count;
    return count;
  }
  sorted_run<Bits, Value> run(unsigned round, std::uint64_t begin, std::uint64_t end) const {
    const elements<Bits, Value> where = at(round, begin);
    return {where.keys, where.values, end - begin};
  }

  const sort_task<Bits, Value>& task_;
  backend::cpu::queue& queue_;
  const merge_kernels<Bits, Value>& kernels_;
  std::uint64_t first_length_;
  unsigned count_;
  workspace<Bits, Value> between_;
};

}  // namespace tilewise::impl::sort
