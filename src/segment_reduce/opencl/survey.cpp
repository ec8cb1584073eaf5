// SPDX-License-Identifier: Apache-2.0
#include "segment_reduce/opencl/survey.hpp"

#include "base/ceil_div.hpp"

#include <bit>

namespace tilewise::impl::segment_reduce {

using backend::buffer;
using backend::memory;

survey::survey(const segmentation& of, const memory& offsets, const order::block_tree& tree,
               backend::opencl::queue& queue, backend::opencl::program& program)
    : of_(of),
      offsets_(offsets),
      log_tile_(static_cast<unsigned>(std::countr_zero(tree.tile()))),
      group_size_(tree.group_size),
      tiles_((of.elements + of.segments) / (tree.tile() / 8 * 7) + 1),
      most_long_(of.elements / (tree.tile() / 8)),
      queue_(queue),
      program_(program),
      border_(queue, (tiles_ + 1) * 3 * sizeof(std::uint64_t)),
      long_segment_(queue, most_long_ * sizeof(std::uint64_t)),
      long_segments_(find()) {}

void survey::fill(const memory& words, std::uint64_t count, std::uint64_t value) const {
  queue_.launch_tiles(program_.kernel("tw_fill"), ceil_div(count, group_size_), group_size_, words, count, value);
}

/// Returns how many segments are long.
std::uint32_t survey::find() const {
  struct {
    std::uint32_t fault, long_segments;
  } found{};
  const buffer notes(queue_, sizeof found);
  fill(notes, sizeof found / 8, 0);
  queue_.launch_tiles(program_.kernel("tw_survey"), ceil_div(of_.segments, group_size_), group_size_, offsets_,
                      offsets_first(), of_.segments, of_.elements, of_.no_value.empty() ? 1u : 0u, tiles_, most_long_,
                      memory(border_), memory(long_segment_), memory(notes));
  queue_.download(&found, notes, sizeof found);
  if (found.fault != 0) refuse_offsets(of_, offsets_, queue_);
  return found.long_segments;
}

namespace {

/// How many values the chunks of all levels have at most.
std::uint64_t value_room(const survey& of) {
  if (of.long_segments() == 0) return 0;
  std::uint64_t room = 0;
  for (unsigned level = 1; of.windows_on(level) != 0; ++level) room += order::level_room(of.windows_on(level));
  return room;
}

}  // namespace

chunk_values::chunk_values(const survey& of, const memory& in, std::size_t element_size)
    : values_(of.queue_, value_room(of) * element_size), owner_(of.queue_, value_room(of) * sizeof(std::uint64_t)) {
  if (of.long_segments() == 0) return;
  const std::uint64_t n = of.of_.elements, room = value_room(of);
  const auto launch = [&](const char* kernel, std::uint64_t groups, const auto&... arguments) {
    of.queue_.launch_tiles(of.program_.kernel(kernel), groups, of.group_size_, arguments...);
  };
  of.fill(owner(), room, ~std::uint64_t{0});  // TW_NOBODY
  launch("tw_own", of.long_segments(), of.offsets(), of.offsets_first(), n, of.long_segment(), owner());
  for (unsigned level = 1; of.windows_on(level) != 0; ++level)
    launch("tw_chunks", of.windows_on(level), in, in.offset / element_size, n, level, of.offsets(), of.offsets_first(),
           owner(), values());
}

}  // namespace tilewise::impl::segment_reduce
