// SPDX-License-Identifier: Apache-2.0
#include "segment_reduce/opencl/survey.hpp"

#include "base/ceil_div.hpp"

#include <algorithm>
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
      owner_(queue, value_room() * sizeof(std::uint64_t)),
      long_segment_(queue, most_long_ * sizeof(std::uint64_t)),
      long_segments_(find()) {}

std::uint64_t survey::value_room() const {
  std::uint64_t room = 0;
  for (unsigned level = 1; windows_on(level) != 0; ++level) room += order::level_room(windows_on(level));
  return room;
}

/// Returns how many segments are long.
std::uint32_t survey::find() const {
  struct {
    std::uint32_t fault, long_segments;
  } found{};
  const buffer notes(queue_, sizeof found);
  const std::uint64_t to_clear = std::max<std::uint64_t>(value_room(), 2);
  queue_.launch_tiles(program_.kernel("tw_clear"), ceil_div(to_clear, group_size_), group_size_, memory(owner_),
                      value_room(), memory(notes));
  queue_.launch_tiles(program_.kernel("tw_survey"), ceil_div(of_.segments, group_size_), group_size_, offsets_,
                      offsets_first(), of_.segments, of_.elements, of_.no_value.empty() ? 1u : 0u, tiles_, most_long_,
                      memory(border_), memory(owner_), memory(long_segment_), memory(notes));
  queue_.download(&found, notes, sizeof found);
  if (found.fault != 0) refuse_offsets(of_, offsets_, queue_);
  return found.long_segments;
}

void survey::launch_chunks(const memory& in, std::size_t element_size, const memory& values) const {
  for (unsigned level = 1; windows_on(level) != 0; ++level)
    queue_.launch_tiles(program_.kernel("tw_chunks"), windows_on(level), group_size_, in, in.offset / element_size,
                        of_.elements, level, offsets_, offsets_first(), memory(owner_), values);
}

}  // namespace tilewise::impl::segment_reduce
