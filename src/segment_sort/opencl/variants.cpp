// SPDX-License-Identifier: Apache-2.0
// What:   segment_sort on OpenCL: segments within a tile by one group each tile, longer ones by chunks that are merged,
//         the longest by a sort each.
// Order:  program.cl.
// Shape:  the host waits for the survey, which finds false offsets and counts the long segments; without those one
//         launch follows. Otherwise it waits once more, for the number of chunks and for the longest segments.
// Limits: local memory for one tile; a workspace as large as the elements, if a segment is longer than a tile; works in
//         place.
// Twins:  serial.cpp.
#include "backend/opencl/device.hpp"
#include "base/ceil_div.hpp"
#include "divide/each_line.hpp"
#include "segment_reduce/opencl/survey.hpp"
#include "segment_sort/alone.hpp"
#include "sort/opencl/shared.hpp"

#include <algorithm>

namespace tilewise::embedded {
extern const std::string_view segment_sort_cl;
}

namespace tilewise::impl::segment_sort {

namespace {

using backend::buffer;
using backend::memory;
using registry::problem;
using registry::tuning;

/// Segments of as many elements are sorts of their own: those read the elements less often than merges of two runs.
constexpr std::uint64_t least_alone = std::uint64_t{1} << 18;
constexpr std::array<unsigned, 3> group_sizes{64, 128, 256};
// With 8, a tile of 8-byte keys, marks and places takes 24 KiB of local memory; with 32, PoCL compiles for seconds.
constexpr std::array<unsigned, 2> item_counts{8, 16};
constexpr std::array<registry::tuning_axis, 2> axes{{{"group_size", group_sizes, 256}, {"items", item_counts, 8}}};

class sort_of_segments {
 public:
  sort_of_segments(const problem& p, const registry::bindings& where, const order::block_tree& tree,
                   backend::opencl::queue& queue)
      : p_(p),
        where_(where),
        tree_(tree),
        queue_(queue),
        program_(queue.program(embedded::segment_sort_cl, sort::sizes_of(p) + tree.definitions())),
        code_(sort::words_of(p)),
        survey_(segmentation_of(p), offsets_memory(p, where), tree, queue, program_),
        chunks_(queue, most_chunks() * 3 * sizeof(std::uint64_t)),
        alone_(queue, most_alone() * sizeof(segment)) {}

  void run() {
    const found long_ones = cut();
    const std::uint64_t spare = long_ones.passes == 0 ? 0 : p_.n();
    const buffer keys(queue_, spare * size_of(p_.type)), values(queue_, spare * payload_size(payload_of(p_)));
    sort_longest(long_ones.alone);  // first, since they take memory, too: before anything is written
    move("tw_sort_segments", survey_.tiles(), sort::encode | sort::decode, survey_.offsets(), survey_.offsets_first(),
         survey_.border());
    if (long_ones.chunks == 0) return;
    move("tw_sort_chunks", long_ones.chunks, sort::encode, memory(keys), memory(values), memory(chunks_));
    for (std::uint32_t pass = 0; pass < long_ones.passes; ++pass)
      queue_.launch_tiles(program_.kernel("tw_merge_chunks"), long_ones.chunks, tree_.group_size, keys_out(),
                          first_key(keys_out()), values_out(), first_value(values_out()), code_[0], code_[1], code_[2],
                          code_[3], memory(keys), memory(values), memory(chunks_), pass);
  }

 private:
  // The same as in program.cl.
  struct found {
    std::uint32_t chunks = 0, passes = 0, alone = 0, unused = 0;
  };
  struct segment {
    std::uint64_t begin, length;
  };

  std::uint64_t most_chunks() const {
    return survey_.long_segments() == 0 ? 0 : p_.n() / tree_.tile() + survey_.long_segments();
  }
  std::uint64_t most_alone() const { return survey_.long_segments() == 0 ? 0 : p_.n() / least_alone; }

  /// Cuts the long segments into chunks. Waits if there are any.
  found cut() const {
    found all;
    if (survey_.long_segments() == 0) return all;
    const buffer notes(queue_, sizeof all);
    survey_.fill(notes, sizeof all / 8, 0);
    queue_.launch_tiles(program_.kernel("tw_cut"), ceil_div(survey_.long_segments(), tree_.group_size),
                        tree_.group_size, survey_.offsets(), survey_.offsets_first(), survey_.long_segment(),
                        std::uint64_t{survey_.long_segments()}, least_alone, memory(chunks_), memory(alone_),
                        memory(notes));
    queue_.download(&all, notes, sizeof all);
    return all;
  }

  void sort_longest(std::uint32_t count) const {
    if (count == 0) return;
    std::vector<segment> all(count);
    queue_.download(all.data(), alone_, count * sizeof all[0]);
    // The longest first: the others fit in the memory that it takes.
    std::ranges::sort(all, [](const segment& a, const segment& b) {
      return a.length != b.length ? a.length > b.length : a.begin < b.begin;
    });
    for (const segment& s : all) sort_alone(p_, where_, s.begin, s.length, queue_);
  }

  /// Launches a kernel that moves elements from the input.
  template <class... More>
  void move(const char* kernel, std::uint64_t groups, std::uint32_t mode, const More&... more) const {
    const memory keys = where_.in[0], values = has_values(p_) ? where_.in[1] : keys;
    const std::uint32_t makes_indices = payload_of(p_) == payload::indices ? sort::indices : 0u;
    queue_.launch_tiles(program_.kernel(kernel), groups, tree_.group_size, keys, first_key(keys), values,
                        first_value(values), keys_out(), first_key(keys_out()), values_out(), first_value(values_out()),
                        code_[0], code_[1], code_[2], code_[3], mode | makes_indices, more...);
  }
  memory keys_out() const { return where_.out[0]; }
  memory values_out() const { return where_.out[payload_size(payload_of(p_)) == 0 ? 0 : 1]; }
  std::uint64_t first_key(const memory& of) const { return of.offset / size_of(p_.type); }
  std::uint64_t first_value(const memory& of) const {
    return of.offset / std::max<std::size_t>(payload_size(payload_of(p_)), 4);
  }

  const problem& p_;
  const registry::bindings& where_;
  const order::block_tree tree_;
  backend::opencl::queue& queue_;
  backend::opencl::program& program_;
  const std::array<base::scalar_value, 4> code_;
  const segment_reduce::survey survey_;
  const buffer chunks_, alone_;
};

void run(const problem& p, const registry::bindings& where, const tuning& t, backend::queue& on) {
  const auto [group_size, items] = t.of(axes);
  if (segments_of(p) == 0) return segment_reduce::require_segments_on(segmentation_of(p), offsets_memory(p, where), on);
  sort_of_segments(p, where, {group_size, items}, static_cast<backend::opencl::queue&>(on)).run();
}

std::string unsupported(const problem& p, const backend::device& on, const tuning& t) {
  const auto [group_size, items] = t.of(axes);
  if (p.n() >= least_alone)
    if (std::string why = divide::each_line_unsupported(sort_of(p, p.n()), on); !why.empty()) return why;
  const std::uint64_t numbers = payload_of(p) == payload::none ? 1 : 2;  // as in program.cl
  const std::uint64_t tile = order::block_tree{group_size, items}.tile();
  return backend::opencl::too_large(on.info(), group_size,
                                    tile * (size_of(p.type) + numbers * sizeof(std::uint16_t)) + tile / 8 + 64);
}

}  // namespace

std::vector<registry::variant> segment_sort_opencl_variants() {
  return {{.algorithm = "segment_sort",
           .backend = "opencl",
           .name = "",
           .types = all_dtypes,
           .source = "merge-based division of work: Merrill and Garland, Merge-based parallel SpMV, SC 2016; merges by "
                     "rank: Satish, Harris and Garland 2009, Designing efficient sorting algorithms for manycore GPUs",
           .tuning = axes,
           .unsupported = unsupported,
           .run = run}};
}

}  // namespace tilewise::impl::segment_sort
