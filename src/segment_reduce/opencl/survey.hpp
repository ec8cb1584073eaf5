// SPDX-License-Identifier: Apache-2.0
// The host's side of survey.cl and chunks.cl: checks offsets on a device, finds tiles and long segments, and makes the
// values of these.
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
  backend::memory long_segment() const { return long_segment_; }

  /// Windows of the length of this level's chunks: 1, 2, ...; levels above the highest have none.
  std::uint64_t windows_on(unsigned level) const { return of_.elements >> level * log_tile_; }
  /// Enqueues a kernel that gives each of `count` words of 8 bytes a value.
  void fill(const backend::memory& words, std::uint64_t count, std::uint64_t value) const;

 private:
  friend class chunk_values;
  std::uint32_t find() const;

  const segmentation of_;
  const backend::memory offsets_;
  const unsigned log_tile_, group_size_;
  const std::uint64_t tiles_, most_long_;
  backend::opencl::queue& queue_;
  backend::opencl::program& program_;
  const backend::buffer border_, long_segment_;
  const std::uint32_t long_segments_;
};

/// The values of all chunks of long segments, and the segments whose chunks they are.
class chunk_values {
 public:
  /// Enqueues the kernels that make them. Without long segments it does nothing.
  chunk_values(const survey& of, const backend::memory& in, std::size_t element_size);

  backend::memory values() const { return values_; }
  backend::memory owner() const { return owner_; }

 private:
  const backend::buffer values_, owner_;
};

}  // namespace tilewise::impl::segment_reduce
