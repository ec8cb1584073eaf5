// SPDX-License-Identifier: Apache-2.0
// The host's side of survey.cl: checks offsets on a device, finds tiles and long segments, and makes the values of
// these.
#pragma once

#include "backend/opencl/queue.hpp"
#include "order/block_tree.hpp"
#include "segment_reduce/offsets.hpp"

namespace tilewise::impl::segment_reduce {

/// What an OpenCL program on segments works with; its kernels get the memory that has their arguments' names.
class survey {
 public:
  /// Waits. Refuses offsets that are not those of segments.
  survey(const segmentation& of, const backend::memory& offsets, const order::block_tree& tree,
         backend::opencl::queue& queue, backend::opencl::program& program);

  std::uint64_t tiles() const { return tiles_; }
  std::uint32_t long_segments() const { return long_segments_; }
  backend::memory offsets() const { return offsets_; }
  std::uint64_t offsets_first() const { return offsets_.offset / sizeof(std::int64_t); }
  backend::memory border() const { return border_; }
  backend::memory owner() const { return owner_; }
  backend::memory long_segment() const { return long_segment_; }

  /// Windows of the length of this level's chunks: 1, 2, ...; levels above the highest have none.
  std::uint64_t windows_on(unsigned level) const { return of_.elements >> level * log_tile_; }
  /// How many values the chunks of all levels have at most.
  std::uint64_t value_room() const;
  /// Enqueues the kernels that make the values of all chunks of long segments.
  void launch_chunks(const backend::memory& in, std::size_t element_size, const backend::memory& values) const;

 private:
  std::uint32_t find() const;

  const segmentation of_;
  const backend::memory offsets_;
  const unsigned log_tile_, group_size_;
  const std::uint64_t tiles_, most_long_;
  backend::opencl::queue& queue_;
  backend::opencl::program& program_;
  const backend::buffer border_, owner_, long_segment_;
  const std::uint32_t long_segments_;
};

}  // namespace tilewise::impl::segment_reduce
