// SPDX-License-Identifier: Apache-2.0
// What:   merges of given runs on CUDA, of any lengths, wherever they lie.
// Order:  by code (code.hpp); of equal codes the earlier run's come first.
// Shape:  passes of merges of four runs; the first one reads keys where they lie, and leaves codes. A long run on
//         another device comes over in pieces, each while those before it are merged.
// Limits: workspace of the size of the input if there are more than four runs, and of what comes over.
// Twins:  cpu/merge.cpp, merge_runs_on_opencl.
#include "sort/cuda/merge_pass.cuh"
#include "sort/merge_runs.hpp"

#include <algorithm>
#include <deque>

namespace tilewise::impl::sort {

namespace {

using namespace on_cuda;

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

/// The elements between two cuts of the runs.
std::vector<sorted_place> between(std::span<const sorted_place> runs, const cut& begin, const cut& end) {
  std::vector<sorted_place> some(runs.begin(), runs.end());
  for (std::size_t r = 0; r < some.size(); ++r) {
    const std::uint64_t n = end[r] - begin[r];
    for (backend::memory* const column : {&some[r].keys, &some[r].values}) {
      const std::uint64_t width = column->bytes / runs[r].n;
      *column = column->at(begin[r] * width, n * width);
    }
    some[r].n = n;
  }
  return some;
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

  /// Enqueues the copies of what lies between two cuts of the runs; returns the mark to follow.
  unsigned fetch(const cut& begin, const cut& end) {
    const std::vector<sorted_place> from = between(from_, begin, end), to = between(here_, begin, end);
    return q_.beside([&] {
      for (const std::size_t r : coming_) {
        q_.copy(to[r].keys, from[r].keys, from[r].keys.bytes);
        q_.copy(to[r].values, from[r].values, from[r].values.bytes);
      }
    });
  }

 private:
  std::vector<sorted_place> from_, here_;
  queue& q_;
  std::vector<std::size_t> coming_;
  std::deque<backend::buffer> rooms_;
};

struct wanted_cuts {
  std::uint64_t after[most_borders];
};

/// Few lanes that read from other devices: eight samples at a time cost hardly more than two.
template <class Bits>
__global__ void select_cuts(const Bits* keys, placed_runs<Bits> runs, wanted_cuts wanted, split* found) {
  found[threadIdx.x] = select<8>(keys, runs, runs.around(0), wanted.after[threadIdx.x]);
}

template <class Bits>
std::vector<cut> cuts_of(std::span<const sorted_place> runs, const sort_code<Bits>& code,
                         std::span<const std::uint64_t> after, queue& q) {
  const auto [placed, first] = place<Bits, nothing>(runs, code);
  wanted_cuts wanted{};
  std::copy(after.begin(), after.end(), wanted.after);
  const backend::buffer found(q, after.size() * sizeof(split));
  select_cuts<<<1, static_cast<unsigned>(after.size()), 0, q.stream()>>>(static_cast<const Bits*>(first.keys), placed,
                                                                         wanted, found.as<split>());
  TW_CUDA(cudaGetLastError());
  std::vector<cut> cuts(after.size());  // counted from the first run's begin, until each run's own is taken off
  static_assert(sizeof(cut) == sizeof(split));
  q.download(cuts.data(), found, after.size() * sizeof(split));
  for (cut& one : cuts)
    for (unsigned r = 1; r < ways; ++r) one[r] -= placed.last.at[r - 1];
  return cuts;
}

/// Merges up to `ways` runs of keys, of which those of other devices arrive piece by piece.
template <class Bits, class Value>
void merge_placed(std::span<const sorted_place> runs, std::span<const cut> pieces, elements<Bits, Value> to,
                  const sort_code<Bits>& code, const coding<Bits>& after, const backend::memory& splits, queue& q) {
  const auto merge = [&](std::span<const sorted_place> some, elements<Bits, Value> target) {
    const auto [placed, first] = place<Bits, Value>(some, code);
    if (placed.n != 0) merge_pass(first, target, placed, splits.as<split>(), after, q);
    return placed.n;
  };
  const std::vector<std::uint64_t> border = borders_of_pieces(borders_of(runs).back());
  if (border.size() == 2 || std::none_of(runs.begin(), runs.end(), is_elsewhere)) {
    merge(runs, to);
    return;
  }
  const std::vector<cut> cuts =
      pieces.empty() ? cuts_of(runs, code, border, q) : std::vector<cut>(pieces.begin(), pieces.end());
  arriving_runs arriving(runs, q);
  std::vector<unsigned> marks;
  const auto fetch_next = [&] {
    if (const std::size_t i = marks.size(); i + 1 < cuts.size()) marks.push_back(arriving.fetch(cuts[i], cuts[i + 1]));
  };
  constexpr unsigned ahead = 3;  // enough that copies follow each other; more would keep the first merge waiting
  for (unsigned i = 0; i < ahead; ++i) fetch_next();
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    q.follow(q, marks[i]);
    to = from_place(to, merge(between(arriving.here(), cuts[i], cuts[i + 1]), to));
    fetch_next();
  }
}

/// Passes over runs of any lengths; a pass has launches for each group of `ways` runs.
template <class Bits, class Value>
void merge_given(const sort_task<Bits, Value>& task, std::span<const sorted_place> placed, std::span<const cut> pieces,
                 queue& q) {
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
        merge_placed(placed.subspan(i, last - i), pieces, to, task.code, after, splits, q);
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
                        backend::queue& q, std::span<const cut> pieces) {
  with_task(p, where, [&](const auto& task) { merge_given(task, runs, pieces, enter(q)); });
}

std::vector<cut> cuts_on_cuda(const registry::problem& p, std::span<const sorted_place> runs,
                              std::span<const std::uint64_t> after, backend::queue& q) {
  std::vector<cut> cuts;
  with_type(p.type, [&]<class T>(T) { cuts = cuts_of(runs, code_of<T>(is_descending(p)), after, enter(q)); });
  return cuts;
}

}  // namespace tilewise::impl::sort
