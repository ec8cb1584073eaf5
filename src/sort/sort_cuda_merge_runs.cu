// SPDX-License-Identifier: Apache-2.0
// What:   merges of given runs on CUDA, of any lengths, wherever they lie.
// Order:  by code (sort_code.hpp); of equal codes the earlier run's come first.
// Shape:  passes of merges of four runs; the first one reads keys where they lie, and leaves codes. A long run on
//         another device comes over in pieces, each while those before it are merged.
// Limits: workspace of the size of the input if there are more than four runs, and of what comes over.
// Twins:  sort_cpu_merge_runs.cpp, merge_runs_on_opencl.
#include "sort/sort_cuda_merge_pass.cuh"
#include "sort/sort_merge_runs.hpp"

#include <algorithm>
#include <deque>

namespace tilewise::impl::sort {

namespace {

using namespace on_cuda;

template <class Bits, class Value>
elements<Bits, Value> from_place(elements<Bits, Value> all, std::uint64_t begin) {
  all.keys += begin;
  if constexpr (moves<Value>) all.values += begin;
  return all;
}

/// What is to be added to `from + i` to reach `to`. All elements of a type have addresses that differ by multiples of
/// its size.
template <class T>
std::int64_t shift(const T* from, std::uint64_t i, const T* to) {
  const auto bytes = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to)) -
                     static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(from));
  return bytes / static_cast<std::int64_t>(sizeof(T)) - static_cast<std::int64_t>(i);
}

/// Up to `ways` runs, and where the first one lies.
template <class Bits, class Value>
std::pair<placed_runs<Bits>, elements<Bits, Value>> place(std::span<const sorted_place> runs,
                                                          const sort_code<Bits>& code) {
  placed_runs<Bits> placed;
  placed.coding = code;
  elements<Bits, Value> first{};
  for (unsigned r = 0; r < ways; ++r) {
    if (r < runs.size()) {
      const elements<Bits, Value> here{runs[r].keys.as<Bits>(), runs[r].values.as<Value>()};
      if (r == 0) first = here;
      placed.key_shift_of[r] = shift(first.keys, placed.n, here.keys);
      if constexpr (moves<Value>) placed.value_shift_of[r] = shift(first.values, placed.n, here.values);
      placed.n += runs[r].n;
    }
    placed.last.at[r] = placed.n;
  }
  return {placed, first};
}

bool is_elsewhere(const sorted_place& run) {
  cudaPointerAttributes lies{};
  int here = 0;
  TW_CUDA(cudaGetDevice(&here));
  TW_CUDA(cudaPointerGetAttributes(&lies, run.keys.as<const void>()));
  return lies.device != here;
}

/// Up to `ways` runs of which some lie on other devices, and room for these. Kernels that read a tile's piece of them
/// at a time reached half of what copies do over NVLink.
class arriving_runs {
 public:
  arriving_runs(std::span<const sorted_place> runs, queue& q) : from_(runs.begin(), runs.end()), here_(from_), q_(q) {
    for (std::size_t r = 0; r < runs.size(); ++r) {
      if (!is_elsewhere(runs[r])) continue;
      coming_.push_back(r);
      here_[r].keys = rooms_.emplace_back(q, runs[r].keys.bytes);
      here_[r].values = rooms_.emplace_back(q, runs[r].values.bytes);
    }
  }

  std::span<const sorted_place> here() const { return here_; }

  /// Enqueues the copies of what lies between two splits of the runs; returns the mark to follow.
  unsigned fetch(const split& begin, const split& end, const split& last) {
    return q_.beside([&] {
      for (const std::size_t r : coming_) {
        const std::uint64_t start = r == 0 ? 0 : last.at[r - 1];
        copy(here_[r].keys, from_[r].keys, begin.at[r] - start, end.at[r] - start, from_[r].n);
        copy(here_[r].values, from_[r].values, begin.at[r] - start, end.at[r] - start, from_[r].n);
      }
    });
  }

 private:
  /// Elements [begin, end) of the `n` of a column.
  void copy(const backend::memory& to, const backend::memory& from, std::uint64_t begin, std::uint64_t end,
            std::uint64_t n) {
    const std::uint64_t width = from.bytes / n, at = begin * width, bytes = (end - begin) * width;
    q_.copy(to.at(at, bytes), from.at(at, bytes), bytes);
  }

  std::vector<sorted_place> from_, here_;
  queue& q_;
  std::vector<std::size_t> coming_;
  std::deque<backend::buffer> rooms_;
};

/// The splits of every `each`-th tile, and the end. Waits.
std::vector<split> look_at(const backend::memory& splits, unsigned tiles, unsigned each, const split& last, queue& q) {
  std::vector<split> some(ceil_div(tiles, each));
  const backend::buffer few(q, some.size() * sizeof(split));
  q.copy_rows(few, sizeof(split), splits, each * sizeof(split), sizeof(split), some.size());
  q.download(some.data(), few, some.size() * sizeof(split));
  some.push_back(last);
  return some;
}

/// Merges up to `ways` runs of keys; all that come from other devices are on their way when the first merge begins.
template <class Bits, class Value>
void merge_placed(std::span<const sorted_place> runs, elements<Bits, Value> to, const sort_code<Bits>& code,
                  const coding<Bits>& after, const backend::memory& splits, queue& q) {
  constexpr std::uint64_t least = std::uint64_t{1} << 22;
  constexpr unsigned pieces = 6;
  const auto [placed, first] = place<Bits, Value>(runs, code);
  const unsigned tiles = tiles_of<Bits, Value>(placed.n), each = ceil_div(tiles, pieces);
  find_splits(first, placed, splits.as<split>(), q);
  if (placed.n < least || std::none_of(runs.begin(), runs.end(), is_elsewhere))
    return merge_splits(first, to, placed, tiles, splits.as<const split>(), after, q);
  arriving_runs arriving(runs, q);
  const std::vector<split> border = look_at(splits, tiles, each, placed.last, q);
  std::vector<unsigned> marks;
  for (std::size_t i = 0; i + 1 < border.size(); ++i)
    marks.push_back(arriving.fetch(border[i], border[i + 1], placed.last));
  const auto [here, first_here] = place<Bits, Value>(arriving.here(), code);
  for (unsigned i = 0; i < marks.size(); ++i) {
    const unsigned tile = i * each;
    placed_runs<Bits> rest = here;
    rest.skipped = std::uint64_t{tile} * merge_tile<Bits, Value>::length;
    rest.n -= rest.skipped;
    q.follow(q, marks[i]);
    merge_splits(first_here, from_place(to, rest.skipped), rest, std::min(each, tiles - tile),
                 splits.as<const split>() + tile, after, q);
  }
}

/// Passes over runs of any lengths; a pass has launches for each group of `ways` runs.
template <class Bits, class Value>
void merge_given(const sort_task<Bits, Value>& task, std::span<const sorted_place> placed, queue& q) {
  std::vector<std::uint64_t> border = borders_of(placed);
  const unsigned passes = rounds_of(placed.size(), ways);
  const workspace<Bits, Value> spare(q, passes == 1 ? 0 : task.n);
  const backend::buffer splits(q, ceil_div(task.n, merge_tile<Bits, Value>::length) * sizeof(split));
  elements<Bits, Value> source{};
  for (unsigned pass = 1; pass <= passes; ++pass) {
    const elements<Bits, Value> target = (passes - pass) % 2 == 0 ? task.out : spare.all();
    const coding<Bits> after{task.code, false, pass == passes};
    for (std::size_t i = 0; i + 1 < border.size(); i += ways) {
      const std::size_t last = std::min(i + ways, border.size() - 1);
      const auto to = from_place(target, border[i]);
      if (pass == 1) {
        merge_placed(placed.subspan(i, last - i), to, task.code, after, splits, q);
        continue;
      }
      given_runs runs;
      for (unsigned r = 0; r < ways; ++r) runs.last.at[r] = border[std::min<std::size_t>(i + r + 1, last)] - border[i];
      runs.n = runs.last.at[ways - 1];
      merge_pass(from_place(source, border[i]), to, runs, splits.as<split>(), after, q);
    }
    border = merged_borders(border, ways);
    source = target;
  }
  TW_CUDA(cudaGetLastError());
}

}  // namespace

void merge_runs_on_cuda(const registry::problem& p, std::span<const sorted_place> runs, const registry::bindings& where,
                        backend::queue& q) {
  with_task(p, where, [&](const auto& task) { merge_given(task, runs, enter(q)); });
}

}  // namespace tilewise::impl::sort
