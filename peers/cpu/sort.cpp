// SPDX-License-Identifier: Apache-2.0
// Sorts of the C++ standard library, of GNU's parallel mode, of oneTBB and of Highway, each called as a program would.
#include "backend/cpu/device.hpp"
#include "peers/variants.hpp"
#include "sort_axis/problem.hpp"

#include <algorithm>

#if TILEWISE_WITH_OPENMP
#include <parallel/algorithm>
#endif
#if TILEWISE_WITH_TBB
#include <oneapi/tbb/parallel_sort.h>
#endif
#if TILEWISE_WITH_HIGHWAY
#include <hwy/contrib/sort/vqsort.h>
#include <hwy/targets.h>
#endif

namespace tilewise::peers {

namespace {

std::string on_one_thread(const registry::problem& p, const backend::device& on, const registry::tuning& t) {
  const std::string elsewhere = one_thread_only(on);
  return elsewhere.empty() ? plain_sorts_only(p, on, t) : elsewhere;
}

/// These sorts work in place, so the input is first copied to the output. Their comparison does not allow NaN.
template <class Sort>
void sort_copy(const registry::problem& p, const registry::bindings& where, backend::queue& queue, Sort sort) {
  queue.copy(where.out[0], where.in[0], p.n() * size_of(p.type));
  with_type(p.type, [&]<class T>(T) {
    T* const y = where.out[0].as<T>();
    sort(y, y + p.n());
  });
}

void run_sort(const registry::problem& p, const registry::bindings& where, const registry::tuning&,
              backend::queue& queue) {
  sort_copy(p, where, queue, [](auto* begin, auto* end) { std::sort(begin, end); });
}

void run_stable_sort(const registry::problem& p, const registry::bindings& where, const registry::tuning&,
                     backend::queue& queue) {
  sort_copy(p, where, queue, [](auto* begin, auto* end) { std::stable_sort(begin, end); });
}

std::string rows_on_one_thread(const registry::problem& p, const backend::device& on, const registry::tuning&) {
  using namespace impl::sort_axis;
  if (const std::string elsewhere = one_thread_only(on); !elsewhere.empty()) return elsewhere;
  const bool is_plain = !is_descending(p) && axis_of(p) == axis::rows && p.shape.rank == 2;
  return is_plain ? "" : "as a peer it is measured only on ascending rows with nothing between them";
}

void run_sort_of_rows(const registry::problem& p, const registry::bindings& where, const registry::tuning&,
                      backend::queue& queue) {
  const registry::lines rows = impl::sort_axis::lines_of_input(p);
  queue.copy(where.out[0], where.in[0], rows.count * rows.length * size_of(p.type));
  with_type(p.type, [&]<class T>(T) {
    T* const y = where.out[0].as<T>();
    for (std::uint64_t row = 0; row < rows.count; ++row) std::sort(y + row * rows.length, y + (row + 1) * rows.length);
  });
}

#if TILEWISE_WITH_OPENMP
void run_gnu_parallel(const registry::problem& p, const registry::bindings& where, const registry::tuning&,
                      backend::queue& queue) {
  const auto threads = static_cast<__gnu_parallel::_ThreadIndex>(static_cast<backend::cpu::queue&>(queue).threads());
  sort_copy(p, where, queue, [&](auto* begin, auto* end) {
    __gnu_parallel::sort(begin, end, __gnu_parallel::default_parallel_tag(threads));
  });
}
#endif

#if TILEWISE_WITH_TBB
void run_tbb(const registry::problem& p, const registry::bindings& where, const registry::tuning&,
             backend::queue& queue) {
  sort_copy(p, where, queue,
            [&](auto* begin, auto* end) { in_tbb_arena(queue, [&] { tbb::parallel_sort(begin, end); }); });
}
#endif

#if TILEWISE_WITH_HIGHWAY
/// Highway 1.0 uses AVX-512 wherever it exists. AMD's processors store selected lanes of a vector so slowly with it
/// that sorts of 4-byte keys take six times as long as with AVX2.
template <class T>
std::int64_t best_target() {
  const bool is_slow = sizeof(T) == 4 && __builtin_cpu_is("amd") && __builtin_cpu_supports("avx2");
  return is_slow ? HWY_AVX2 : hwy::SupportedTargets();
}

void run_vqsort(const registry::problem& p, const registry::bindings& where, const registry::tuning&,
                backend::queue& queue) {
  sort_copy(p, where, queue, []<class T>(T* begin, T* end) {
    hwy::GetChosenTarget().Update(best_target<T>());
    hwy::Sorter()(begin, static_cast<std::size_t>(end - begin), hwy::SortAscending());
  });
}
#endif

}  // namespace

std::vector<registry::variant> sort_variants() {
  return {
    sorting_peer("std", "std::sort", on_one_thread, run_sort),
        sorting_peer("std_stable", "std::stable_sort", on_one_thread, run_stable_sort),
        sorting_peer("std", "std::sort of each row", rows_on_one_thread, run_sort_of_rows, "sort_axis"),
#if TILEWISE_WITH_OPENMP
        sorting_peer("gnu_parallel", "__gnu_parallel::sort", plain_sorts_only, run_gnu_parallel),
#endif
#if TILEWISE_WITH_TBB
        sorting_peer("tbb", "oneTBB parallel_sort", plain_sorts_only, run_tbb),
#endif
#if TILEWISE_WITH_HIGHWAY
        sorting_peer("vqsort", "Highway's hwy::Sorter, keys alone, not stable", on_one_thread, run_vqsort),
#endif
  };
}

}  // namespace tilewise::peers
