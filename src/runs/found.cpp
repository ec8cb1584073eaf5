// SPDX-License-Identifier: Apache-2.0
#include "registry/choose.hpp"
#include "runs/problem.hpp"

namespace tilewise::impl::runs {

void require_room(const registry::problem& p, std::uint64_t found) {
  if (!only_counts(p) && found != runs_of(p))
    throw error(errc::invalid_argument, "there are " + std::to_string(found) + " runs of equal keys and room for " +
                                            std::to_string(runs_of(p)) +
                                            "; count them first, and leave the keys alone");
}

tile_counts::tile_counts(std::uint64_t tiles, backend::queue& queue)
    : tiles_(tiles), queue_(queue), own_(queue, tiles * sizeof(std::int64_t)), memory_(own_) {}

void tile_counts::add_up(const registry::problem& p, const registry::bindings& where) {
  const registry::problem sums{
      .what = &registry::find_algorithm("scan"), .type = dtype::i64, .shape = {tiles_}};  // sum, inclusive, no init
  const registry::choice how = registry::choose_silently(sums, queue_.device());
  how.variant->run(sums, {{memory_}, {memory_}}, how.tuning, queue_);
  std::int64_t found = 0;
  const backend::memory last = memory_.at((tiles_ - 1) * sizeof found, sizeof found);
  if (!only_counts(p)) {
    queue_.download(&found, last, sizeof found);
    require_room(p, static_cast<std::uint64_t>(found));
  }
  queue_.copy(where.out[0], last, sizeof found);
}

void write_none(const registry::bindings& where, backend::queue& queue) {
  const std::int64_t zero = 0;
  queue.upload(where.out[0], &zero, sizeof zero);  // no run
  queue.upload(where.out[2], &zero, sizeof zero);  // the only offset
}

}  // namespace tilewise::impl::runs
