// SPDX-License-Identifier: Apache-2.0
#include "registry/choose.hpp"
#include "runs/problem.hpp"

namespace tilewise::impl::runs {

tile_counts::tile_counts(std::uint64_t tiles, backend::queue& queue)
    : tiles_(tiles), queue_(queue), own_(queue, tiles * sizeof(std::int64_t)), memory_(own_) {}

void tile_counts::add_up(const backend::memory& count) {
  const registry::problem sums{
      .what = &registry::find_algorithm("scan"), .type = dtype::i64, .shape = {tiles_}};  // sum, inclusive, no init
  const registry::choice how = registry::choose_silently(sums, queue_.device());
  how.variant->run(sums, {{memory_}, {memory_}}, how.tuning, queue_);
  constexpr std::uint64_t each = sizeof(std::int64_t);
  queue_.copy(count, memory_.at((tiles_ - 1) * each, each), each);
}

void write_none(const registry::bindings& where, backend::queue& queue) {
  for (const backend::memory& out : std::span(where.out).first(3)) {
    const std::vector<std::byte> zeros(out.bytes);  // no run; each place has the key 0, and 0 for a begin
    if (out.bytes != 0) queue.upload(out, zeros.data(), out.bytes);
  }
}

}  // namespace tilewise::impl::runs
