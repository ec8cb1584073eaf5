// SPDX-License-Identifier: Apache-2.0
// What:   runs on every executor: count the begins of each tile, then write them.
// Order:  none: nothing is computed with keys.
// Shape:  a tile is some keys in a row; a worker takes one after another. It leaves out blocks without a begin, so that
//         it seldom writes where another one does; in other blocks no branch depends on a key: each is written where the
//         next begin goes, and stays there if it is one.
// Limits: none.
// Twins:  serial.cpp.
#include "backend/cpu/device.hpp"
#include "base/ceil_div.hpp"
#include "registry/variant.hpp"
#include "runs/problem.hpp"

#include <algorithm>

namespace tilewise::impl::runs {

namespace {

constexpr std::array<unsigned, 3> tile_lengths{16384, 65536, 262144};
constexpr std::array<registry::tuning_axis, 1> axes{{{"tile", tile_lengths, 65536}}};

/// How many runs begin with keys [begin, end); at most 2^32 - 1 keys.
template <class K>
std::uint32_t begins_in(const K* keys, std::uint64_t begin, std::uint64_t end) {
  std::uint32_t count = begin == 0 && end != 0;
  for (std::uint64_t i = std::max<std::uint64_t>(begin, 1); i < end; ++i) count += keys[i] != keys[i - 1];
  return count;
}

template <class K>
struct found {
  K* keys;
  std::int64_t* offsets;
  std::uint64_t room;
};

/// Writes those of the runs [run, end) for which there is room. The first one begins at key `i`, which is the first of
/// a block, or behind it. Ends with the last key even if keys have changed since they were counted.
template <class K>
void write_begins(const K* keys, std::uint64_t i, std::uint64_t n, std::uint64_t run, std::uint64_t end,
                  const found<K>& to) {
  constexpr std::uint64_t block = 64;
  const std::uint64_t last = std::min(end, to.room);
  const auto next_block = [&] {
    while (i < n && begins_in(keys, i, std::min(n, i + block)) == 0) i += block;
    return i < n;
  };
  while (run < last && next_block())
    for (const std::uint64_t behind = std::min(n, i + block); i < behind && run < last; ++i) {
      to.keys[run] = keys[i];
      to.offsets[run] = static_cast<std::int64_t>(i);
      run += begins_at(keys, i);
    }
  if (run != to.room || run == end || !next_block()) return;  // else the begin behind the last run that has room
  while (i + 1 < n && !begins_at(keys, i)) ++i;
  to.offsets[run] = static_cast<std::int64_t>(i);
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning& t, backend::queue& q) {
  auto& queue = static_cast<backend::cpu::queue&>(q);
  if (p.n() == 0) return write_none(where, queue);
  const std::uint64_t tile = t.of(axes)[0], tiles = ceil_div(p.n(), tile);
  const backend::buffer counts(queue, tiles * sizeof(std::int64_t));
  auto* const count = counts.as<std::int64_t>();
  with_bits(p.type, [&]<class K>(K) {
    const K* const keys = where.in[0].as<const K>();
    queue.for_each_tile(tiles, [&](std::uint64_t i, unsigned) {
      count[i] = begins_in(keys, i * tile, std::min(p.n(), (i + 1) * tile));
    });
    add_up(counts, where.out[0], queue);
    const found<K> to{where.out[1].as<K>(), where.out[2].as<std::int64_t>(), room_of(p)};
    queue.for_each_tile(tiles, [&](std::uint64_t i, unsigned) {
      const auto first = static_cast<std::uint64_t>(i == 0 ? 0 : count[i - 1]);
      if (first <= to.room) write_begins(keys, i * tile, p.n(), first, static_cast<std::uint64_t>(count[i]), to);
    });
    const auto all = static_cast<std::uint64_t>(count[tiles - 1]);
    if (all > to.room) return;
    std::fill(to.keys + all, to.keys + to.room, K{0});
    std::fill(to.offsets + all, to.offsets + to.room + 1, static_cast<std::int64_t>(p.n()));
  });
}

}  // namespace

std::vector<registry::variant> runs_cpu_variants() {
  return {{.algorithm = "runs",
           .backend = "cpu",
           .name = "",
           .types = all_dtypes,
           .source = "count, scan, write: Blelloch, Prefix Sums and Their Applications, 1990, 1.5",
           .tuning = axes,
           .run = run}};
}

}  // namespace tilewise::impl::runs
