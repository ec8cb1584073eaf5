// SPDX-License-Identifier: Apache-2.0
// oneTBB's own algorithms, as its documentation shows them, with the standard library within each range; and HiPerC's
// program with oneTBB, which cuts the fields into rectangles (see diffuse.cpp).
#include "backend/cpu/device.hpp"
#include "peers/cpu/diffuse.hpp"
#include "peers/variants.hpp"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/blocked_range2d.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_reduce.h>
#include <oneapi/tbb/parallel_scan.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace tilewise::peers {

namespace {

using range = tbb::blocked_range<std::size_t>;

tbb::task_arena& arena_of(backend::queue& queue) {
  static std::vector<std::unique_ptr<tbb::task_arena>> arenas;
  const auto threads = static_cast<int>(static_cast<backend::cpu::queue&>(queue).threads());
  for (auto& known : arenas)
    if (known->max_concurrency() == threads) return *known;
  return *arenas.emplace_back(std::make_unique<tbb::task_arena>(threads));
}

void run_reduce(const registry::problem& p, const registry::bindings& where, const registry::tuning&,
                backend::queue& queue) {
  order::with_wrapping_type(p.type, [&]<class T>(T zero) {
    const T* x = where.in[0].as<const T>();
    *where.out[0].as<T>() = arena_of(queue).execute([&] {
      return tbb::parallel_reduce(
          range(0, p.n()), zero, [&](const range& r, T sum) { return std::reduce(x + r.begin(), x + r.end(), sum); },
          std::plus<T>());
    });
  });
}

void run_scan(const registry::problem& p, const registry::bindings& where, const registry::tuning&,
              backend::queue& queue) {
  order::with_wrapping_type(p.type, [&]<class T>(T zero) {
    const T* x = where.in[0].as<const T>();
    T* y = where.out[0].as<T>();
    const auto scan_range = [&](const range& r, T sum, bool is_final) {
      if (!is_final) return std::reduce(x + r.begin(), x + r.end(), sum);
      std::inclusive_scan(x + r.begin(), x + r.end(), y + r.begin(), std::plus<T>(), sum);
      return r.empty() ? sum : y[r.end() - 1];
    };
    arena_of(queue).execute([&] { tbb::parallel_scan(range(0, p.n()), zero, scan_range, std::plus<T>()); });
  });
}

/// Calls work(first element, end, segment) for each segment, by all threads.
template <class Work>
void for_each_segment(const registry::problem& p, const registry::bindings& where, backend::queue& queue,
                      const Work& work) {
  const std::size_t last = p.what->inputs(p).size() - 1;
  const auto* offsets = where.in[last].as<const std::int64_t>();
  arena_of(queue).execute([&] {
    tbb::parallel_for(range(0, p.shape[1]), [&](const range& r) {
      for (std::size_t s = r.begin(); s != r.end(); ++s) work(offsets[s], offsets[s + 1], s);
    });
  });
}

void run_segment_reduce(const registry::problem& p, const registry::bindings& where, const registry::tuning&,
                        backend::queue& queue) {
  order::with_wrapping_type(p.type, [&]<class T>(T zero) {
    const T* x = where.in[0].as<const T>();
    T* values = where.out[0].as<T>();
    for_each_segment(p, where, queue, [&](std::int64_t begin, std::int64_t end, std::size_t s) {
      values[s] = std::reduce(x + begin, x + end, zero);
    });
  });
}

void run_segment_scan(const registry::problem& p, const registry::bindings& where, const registry::tuning&,
                      backend::queue& queue) {
  order::with_wrapping_type(p.type, [&]<class T>(T) {
    const T* x = where.in[0].as<const T>();
    T* y = where.out[0].as<T>();
    for_each_segment(p, where, queue, [&](std::int64_t begin, std::int64_t end, std::size_t) {
      std::inclusive_scan(x + begin, x + end, y + begin);
    });
  });
}

void run_segment_sort(const registry::problem& p, const registry::bindings& where, const registry::tuning&,
                      backend::queue& queue) {
  with_type(p.type, [&]<class T>(T) {
    const T* x = where.in[0].as<const T>();
    T* y = where.out[0].as<T>();
    for_each_segment(p, where, queue, [&](std::int64_t begin, std::int64_t end, std::size_t) {
      std::copy(x + begin, x + end, y + begin);
      std::sort(y + begin, y + end);
    });
  });
}

struct tbb_team {
  backend::queue& queue;

  explicit tbb_team(backend::queue& on) : queue(on) {}

  template <class F>
  void each_row(std::uint64_t begin, std::uint64_t end, F visit) const {
    arena_of(queue).execute([&] { tbb::parallel_for(begin, end, visit); });
  }
  template <class F>
  void each_point(hiperc::range rows, hiperc::range columns, F visit) const {
    using rectangle = tbb::blocked_range2d<std::uint64_t>;
    const auto work = [=](const rectangle& r) {
      for (std::uint64_t j = r.rows().begin(); j != r.rows().end(); ++j)
        for (std::uint64_t i = r.cols().begin(); i != r.cols().end(); ++i) visit(j, i);
    };
    arena_of(queue).execute(
        [&] { tbb::parallel_for(rectangle(rows.begin, rows.end, columns.begin, columns.end), work); });
  }
};

}  // namespace

void in_tbb_arena(backend::queue& queue, const std::function<void()>& work) { arena_of(queue).execute(work); }

std::vector<registry::variant> tbb_variants() {
  return {cpu_peer("reduce", "tbb", "oneTBB parallel_reduce", plain_sums_only, run_reduce),
          cpu_peer("scan", "tbb", "oneTBB parallel_scan", plain_sums_only, run_scan),
          cpu_peer("segment_reduce", "tbb", "oneTBB parallel_for over segments, std::reduce in each", plain_sums_only,
                   run_segment_reduce),
          cpu_peer("segment_scan", "tbb", "oneTBB parallel_for over segments, std::inclusive_scan in each",
                   plain_sums_only, run_segment_scan),
          sorting_peer("tbb", "oneTBB parallel_for over segments, std::sort in each", plain_sorts_only,
                       run_segment_sort, "segment_sort"),
          hiperc::peer("hiperc_tbb", "HiPerC's program with Threading Building Blocks, rewritten",
                       hiperc::threads_unsupported, hiperc::run_with<tbb_team>)};
}

}  // namespace tilewise::peers
