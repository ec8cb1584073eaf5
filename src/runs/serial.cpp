// SPDX-License-Identifier: Apache-2.0
// What:   runs by its definition; never optimised.
// Order:  none: nothing is computed with keys.
// Shape:  one loop that counts, and one that writes, on the calling thread.
// Limits: none.
// Twins:  every other file of the folder.
#include "registry/variant.hpp"
#include "runs/problem.hpp"

namespace tilewise::impl::runs {

namespace {

void run(const registry::problem& p, const registry::bindings& where, const registry::tuning&, backend::queue&) {
  with_bits(p.type, [&]<class K>(K) {
    const K* const keys = where.in[0].as<const K>();
    std::uint64_t count = 0;
    for (std::uint64_t i = 0; i < p.n(); ++i) count += begins_at(keys, i);
    require_room(p, count);
    *where.out[0].as<std::int64_t>() = static_cast<std::int64_t>(count);
    if (only_counts(p)) return;
    auto* const offsets = where.out[2].as<std::int64_t>();
    std::uint64_t run = 0;
    for (std::uint64_t i = 0; i < p.n(); ++i) {
      if (!begins_at(keys, i)) continue;
      where.out[1].as<K>()[run] = keys[i];
      offsets[run++] = static_cast<std::int64_t>(i);
    }
    offsets[run] = static_cast<std::int64_t>(p.n());
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
