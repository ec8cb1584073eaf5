// SPDX-License-Identifier: Apache-2.0
// What:   sort/opencl:merge_path and sort/opencl:merge_rank; also merges given runs.
// Order:  merge.cl.
// Shape:  merge_path: tiles are sorted, then passes double the runs. merge_rank: such passes, from runs of one on.
//         Given runs: passes with launches for each pair.
// Limits: merge_path: local memory for one tile; merge_rank: none.
// Twins:  serial.cpp.
#include "backend/opencl/device.hpp"
#include "base/ceil_div.hpp"
#include "sort/code.hpp"
#include "sort/merge_runs.hpp"
#include "sort/opencl/shared.hpp"

#include <algorithm>
#include <bit>

namespace tilewise::embedded {
extern const std::string_view sort_merge_cl;
}

namespace tilewise::impl::sort {

namespace {

using registry::problem;
using registry::tuning;

/// How many passes merge `runs` runs into one, two at a time.
unsigned merges_of(std::uint64_t runs) { return static_cast<unsigned>(std::bit_width(runs - 1)); }

// merge_path

// Who finds the ends of a tile's parts: the group that merges them, or an earlier launch.
constexpr std::array<unsigned, 3> split_values{0, 1, 2};
constexpr std::array<std::string_view, 3> split_words{"auto", "group", "launch"};
constexpr std::array<registry::tuning_axis, 2> path_axes{{group_axis, {"split", split_values, 0, split_words}}};
constexpr std::uint64_t few_tiles = 1024;  // "auto": up to this many groups search faster than one more launch
constexpr unsigned split_group = 64;       // one item per tile: small groups use more compute units

/// Pairs of neighbouring runs in a range of elements. A pair has `period` elements; its left run has `run` of them.
struct run_pairs {
  std::uint64_t begin, n, run, period;
};

void merge_pairs(const opencl_sort& sort, const opencl_tiles& tiles, unsigned pass, const run_pairs& pairs,
                 const backend::memory& splits, std::uint32_t search) {
  const std::uint64_t count = tiles.tiles(pairs.n);
  if (search == 0)
    sort.look_at_range(sort.kernel("tw_split"), ceil_div(count, split_group), split_group, pass, pairs.begin, pairs.n,
                       splits, count, pairs.run, pairs.period);
  sort.move_range(sort.kernel("tw_merge"), count, tiles.group_size, pass, pairs.begin, pairs.n, splits, pairs.run,
                  pairs.period, search);
}

void run_merge_path(const problem& p, const registry::bindings& where, const tuning& t, backend::queue& queue) {
  const auto [group_size, split] = t.of(path_axes);
  if (p.n() == 0) return;
  const opencl_tiles tiles = tiles_for(p, queue.device().info(), group_size, merge_path_bytes);
  sort_runs_by_merging(p, where, tiles, p.n(), split, queue);
}

std::string merge_path_unsupported(const problem& p, const backend::device& on, const tuning& t) {
  const auto [group_size, split] = t.of(path_axes);
  return tiles_unsupported(p, on.info(), group_size, merge_path_bytes);
}

// merge_rank

constexpr std::array<unsigned, 6> group_sizes{32, 64, 128, 256, 512, 1024};
constexpr std::array<registry::tuning_axis, 1> rank_axes{{{"group_size", group_sizes, 256}}};

void run_merge_rank(const problem& p, const registry::bindings& where, const tuning& t, backend::queue& queue) {
  const auto [group_size] = t.of(rank_axes);
  if (p.n() == 0) return;
  opencl_sort sort(p, where, queue, embedded::sort_merge_cl, "");
  // A single element needs a pass too, which copies it.
  sort.plan(std::max(1u, merges_of(p.n())), false);
  for (unsigned pass = 0; pass < sort.passes(); ++pass)
    sort.move(sort.kernel("tw_merge_by_rank"), ceil_div(p.n(), group_size), group_size, pass, std::uint64_t{1} << pass);
}

std::string merge_rank_unsupported(const problem&, const backend::device& on, const tuning& t) {
  const auto [group_size] = t.of(rank_axes);
  return backend::opencl::too_large(on.info(), group_size, 0);
}

}  // namespace

std::uint64_t merge_path_bytes(const problem& p, const opencl_tiles& tiles) {
  const std::uint64_t merged = tiles.tile() * (size_of(p.type) + sizeof(std::uint16_t)) + 16;  // with sources and ends
  return std::max(tiles.local_bytes(p), merged);
}

void sort_runs_by_merging(const problem& p, const registry::bindings& where, const opencl_tiles& tiles,
                          std::uint64_t run, unsigned split, backend::queue& queue) {
  opencl_sort sort(p, where, queue, embedded::sort_merge_cl, tiles.definitions());
  const std::uint64_t count = tiles.tiles(p.n());
  sort.plan(1 + merges_of(tiles.tiles(run)), true);
  sort.move(sort.kernel("tw_sort_tiles"), count, tiles.group_size, 0);
  const backend::buffer splits(queue, count * sizeof(std::uint64_t));
  const std::uint32_t search = split == 0 ? count <= few_tiles : split == 1;
  for (unsigned pass = 1; pass < sort.passes(); ++pass)
    merge_pairs(sort, tiles, pass, {0, p.n(), tiles.tile() << (pass - 1), tiles.tile() << pass}, splits, search);
}

void merge_runs_on_opencl(const problem& p, const registry::bindings& where, std::span<const std::uint64_t> border,
                          backend::queue& queue) {
  constexpr unsigned encoding_group = 64;
  const opencl_tiles tiles = tiles_for(p, queue.device().info(), 0, merge_path_bytes);
  opencl_sort sort(p, where, queue, embedded::sort_merge_cl, tiles.definitions());
  sort.plan(rounds_of(border.size() - 1, 2), false);
  if (!with_type(p.type, [&]<class T>(T) { return code_of<T>(is_descending(p)).is_identity(); }))
    sort.encode_input(sort.kernel("tw_encode_keys"), encoding_group);
  const backend::buffer splits(queue, tiles.tiles(p.n()) * sizeof(std::uint64_t));
  std::vector<std::uint64_t> at(border.begin(), border.end());
  for (unsigned pass = 0; pass < sort.passes(); ++pass) {
    for (std::size_t i = 0; i + 1 < at.size(); i += 2) {
      const std::uint64_t n = at[std::min(i + 2, at.size() - 1)] - at[i];
      merge_pairs(sort, tiles, pass, {at[i], n, at[i + 1] - at[i], n}, splits, tiles.tiles(n) <= few_tiles);
    }
    at = merged_borders(at, 2);
  }
}

registry::variant opencl_merge_path_variant() {
  return {.algorithm = "sort",
          .backend = "opencl",
          .name = "merge_path",
          .types = all_dtypes,
          .source = "Green, McColl and Bader 2012, GPU merge path",
          .tuning = path_axes,
          .unsupported = merge_path_unsupported,
          .run = run_merge_path};
}

registry::variant opencl_merge_rank_variant() {
  return {.algorithm = "sort",
          .backend = "opencl",
          .name = "merge_rank",
          .types = all_dtypes,
          .source = "Satish, Harris and Garland 2009, Designing efficient sorting algorithms for manycore GPUs",
          .tuning = rank_axes,
          .unsupported = merge_rank_unsupported,
          .run = run_merge_rank};
}

}  // namespace tilewise::impl::sort
