// SPDX-License-Identifier: Apache-2.0
// What:   matvec on CUDA: which kernel takes which shape.
// Order:  rows.cuh.
// Shape:  one launch; two for rows of 64 chunks and more, which are cut into tiles.
// Limits: none.
// Twins:  serial.cpp.
#include "matvec/cuda/rows.cuh"

#include "backend/cuda/error.hpp"
#include "backend/cuda/queue.hpp"
#include "base/ceil_div.hpp"
#include "matvec/problem.hpp"
#include "registry/variant.hpp"

#include <algorithm>
#include <bit>

namespace tilewise::impl::matvec {

namespace {

constexpr unsigned lanes_per_unit = 1024;  // that stay on a compute unit with 64 registers each

/// Tiles are as long as possible, but there is at least one for each warp that the device holds, unless there are
/// nearly enough rows for that. Twice as many were 3 % slower for 64 x 2^20 floats on an H200.
template <class T>
unsigned tile_level(const matrix<T>& w, std::uint64_t resident_warps) {
  unsigned level = chunk_level<T> + most_levels;
  if (2 * w.m >= resident_warps) return level;
  while (level > chunk_level<T> && w.m * (w.n >> level) < resident_warps) --level;
  return level;
}

unsigned groups_for(std::uint64_t warps) {
  constexpr unsigned in_group = group_size / warp_size;
  return static_cast<unsigned>(std::min<std::uint64_t>(ceil_div(warps, in_group), std::uint64_t{1} << 30));
}

template <class T>
void launch_short_rows(const matrix<T>& w, queue& q) {
  const reduce::short_rows<T> of(w.a, w.m, w.stride, w.n, q.device().info().compute_units);
  staged_rows<<<static_cast<unsigned>(of.groups()), reduce::short_row_group, 0, q.stream()>>>(w, of);
  TW_CUDA(cudaGetLastError());
}

/// A team has as many warps as a row has chunks, up to a group: on an H200 16384 rows of 16384 doubles took 461 us with
/// teams of 8 warps, 473 with two and 490 with a warp a row. What is left of a row takes one warp so long that teams
/// would wait for it where the device holds no more warps: 8192 rows of 8190 doubles, 154 us with teams of 8 and 126
/// with a warp.
template <class T>
void launch_whole_rows(const matrix<T>& w, std::uint64_t resident_warps, queue& q) {
  constexpr unsigned log_warps = std::bit_width(group_size / warp_size) - 1;
  const auto log_of = [](std::uint64_t count) { return static_cast<unsigned>(std::bit_width(count)) - 1; };
  unsigned log_team = std::min(log_of(w.n >> chunk_level<T>), log_warps);
  if (w.n % chunk_length<T> != 0)
    log_team = std::min(log_team, log_of(std::max<std::uint64_t>(resident_warps / w.m, 1)));
  whole_rows<<<groups_for(w.m << log_team), group_size, 0, q.stream()>>>(w, log_team);
  TW_CUDA(cudaGetLastError());
}

template <class T>
void launch_long_rows(const matrix<T>& w, std::uint64_t resident_warps, queue& q) {
  if (w.n >> chunk_level<T> < 1u << (most_levels + 1)) return launch_whole_rows(w, resident_warps, q);
  cut<T> by{.level = tile_level(w, resident_warps)};
  by.tiles = w.n >> by.level;
  by.room = reduce::tile_value_room(by.tiles);
  const backend::buffer workspace(q, w.m * (by.room + reduce::digit_count) * sizeof(T));
  by.value = workspace.as<T>();
  by.digit = by.value + w.m * by.room;
  const std::uint64_t ends = w.n == by.tiles << by.level ? 0 : 1;
  pieces<<<groups_for(w.m * (by.tiles + ends)), group_size, 0, q.stream()>>>(w, by);
  TW_CUDA(cudaGetLastError());
  finish<<<static_cast<unsigned>(w.m), finish_group_size, 0, q.stream()>>>(w, by);
  TW_CUDA(cudaGetLastError());
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue& on) {
  queue& q = enter(on);
  const sizes s(p);
  if (s.m == 0) return;
  with_type(p.type, [&]<class Element>(Element) {
    using T = order::wrapping_t<Element>;
    const T *a = where.in[0].as<const T>(), *x = where.in[1].as<const T>();
    T* const y = where.out[0].as<T>();
    const bool packable = is_packable(a) && is_packable(x) && (s.m == 1 || s.lda % pack_length<T> == 0);
    const matrix<T> w{a, x, y, s.m, s.n, s.lda, packable};
    const std::uint64_t resident_warps = std::uint64_t{q.device().info().compute_units} * (lanes_per_unit / warp_size);
    if (s.n == 0)
      TW_CUDA(cudaMemsetAsync(y, 0, s.m * sizeof(T), q.stream()));
    else if (s.n < chunk_length<T>)
      launch_short_rows(w, q);
    else
      launch_long_rows(w, resident_warps, q);
  });
}

}  // namespace

std::vector<registry::variant> matvec_cuda_variants() {
  return {{.algorithm = "matvec",
           .backend = "cuda",
           .name = "",
           .types = all_dtypes,
           .source = "one warp per row: Bell and Garland 2009, Implementing sparse matrix-vector multiplication; "
                     "src/order/README.md",
           .run = run}};
}

}  // namespace tilewise::impl::matvec
