// SPDX-License-Identifier: Apache-2.0
// What:   runs on every executor: count the begins of each tile, then write them.
// Order:  none: nothing is computed with keys.
// Shape:  a tile is some keys in a row; a worker takes one after another. Writing has no branch that depends on a key:
//         each key is written where the next begin goes, and stays there if it is one.
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

/// Writes the runs [run, end), the first of which begins at or behind `i`.
template <class K>
void write_begins(const K* keys, std::uint64_t i, std::uint64_t run, std::uint64_t end, K* run_keys,
                  std::int64_t* offsets) {
  for (; run < end; ++i) {
    run_keys[run] = keys[i];
    offsets[run] = static_cast<std::int64_t>(i);
    run += begins_at(keys, i);
  }
}

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning& t, backend::queue& q) {
  auto& queue = static_cast<backend::cpu::queue&>(q);
  if (p.n() == 0) return write_none(where, queue);
  const std::uint64_t tile = t.of(axes)[0], tiles = ceil_div(p.n(), tile);
  tile_counts counts(tiles, queue);
  auto* const count = static_cast<const backend::memory&>(counts).as<std::int64_t>();
  with_bits(p.type, [&]<class K>(K) {
    const K* const keys = where.in[0].as<const K>();
    queue.for_each_tile(tiles, [&](std::uint64_t i, unsigned) {
      count[i] = begins_in(keys, i * tile, std::min(p.n(), (i + 1) * tile));
    });
    counts.add_up(p, where);
    if (only_counts(p)) return;
    auto* const offsets = where.out[2].as<std::int64_t>();
    queue.for_each_tile(tiles, [&](std::uint64_t i, unsigned) {
      const auto first = static_cast<std::uint64_t>(i == 0 ? 0 : count[i - 1]);
      write_begins(keys, i * tile, first, static_cast<std::uint64_t>(count[i]), where.out[1].as<K>(), offsets);
    });
    offsets[runs_of(p)] = static_cast<std::int64_t>(p.n());
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
