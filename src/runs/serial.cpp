// SPDX-License-Identifier: Apache-2.0
// What:   runs by its definition; never optimised.
// Order:  none: nothing is computed with keys.
// Shape:  one loop on the calling thread.
// Limits: none.
// Twins:  every other file of the folder.
#include "registry/variant.hpp"
#include "runs/problem.hpp"

#include <algorithm>

namespace tilewise::impl::runs {

namespace {

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue&) {
  with_bits(p.type, [&]<class K>(K) {
    const K* const keys = where.in[0].as<const K>();
    const std::span<K> run_keys(where.out[1].as<K>(), room_of(p));
    const std::span<std::int64_t> offsets(where.out[2].as<std::int64_t>(), room_of(p) + 1);
    std::fill(run_keys.begin(), run_keys.end(), K{0});
    std::fill(offsets.begin(), offsets.end(), static_cast<std::int64_t>(p.n()));
    std::uint64_t count = 0;
    for (std::uint64_t i = 0; i < p.n(); ++i) {
      if (!begins_at(keys, i)) continue;
      if (count < run_keys.size()) run_keys[count] = keys[i];
      if (count < offsets.size()) offsets[count] = static_cast<std::int64_t>(i);
      ++count;
    }
    *where.out[0].as<std::int64_t>() = static_cast<std::int64_t>(count);
  });
}

}  // namespace

std::vector<registry::variant> runs_serial_variants() {
  return {{.algorithm = "runs",
           .backend = "serial",
           .name = "",
           .types = all_dtypes,
           .source = "the definition",
           .run = run}};
}

}  // namespace tilewise::impl::runs
