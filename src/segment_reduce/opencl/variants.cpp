// SPDX-License-Identifier: Apache-2.0
// What:   segment_reduce on OpenCL: segments within a tile by one group each tile, the others by chunks, level by level.
// Order:  program.cl.
// Shape:  the host waits for the survey, which finds false offsets and counts the long segments; without those one
//         launch follows.
// Limits: local memory for one tile of elements; f64 where the device has it.
// Twins:  serial.cpp.
#include "backend/opencl/device.hpp"
#include "backend/opencl/queue.hpp"
#include "base/ceil_div.hpp"
#include "registry/byte_tree.hpp"
#include "registry/variant.hpp"
#include "segment_reduce/problem.hpp"

#include <bit>

namespace tilewise::embedded {
extern const std::string_view segment_reduce_cl;
}

namespace tilewise::impl::segment_reduce {

namespace {

using backend::buffer;
using backend::memory;
using registry::problem;
using registry::tuning;

class reduction {
 public:
  reduction(const problem& p, const registry::bindings& where, const order::block_tree& tree,
            backend::opencl::queue& queue)
      : p_(p),
        in_(where.in[0]),
        offsets_(where.in[1]),
        out_(where.out[0]),
        size_(size_of(p.type)),
        log_tile_(static_cast<unsigned>(std::countr_zero(tree.tile()))),
        group_size_(tree.group_size),
        tiles_((p.n() + segments_of(p)) / (tree.tile() / 8 * 7) + 1),
        most_long_(p.n() / (tree.tile() / 8)),
        queue_(queue),
        program_(queue.program(embedded::segment_reduce_cl,
                               backend::opencl::definitions_of(p.type, operation_of(p)) + tree.definitions())),
        border_(queue, (tiles_ + 1) * 3 * sizeof(std::uint64_t)),
        owner_(queue, window_room() * sizeof(std::uint64_t)),
        long_segment_(queue, most_long_ * sizeof(std::uint64_t)),
        found_(queue, 2 * sizeof(std::uint32_t)) {
    with_type(p.type, [&]<class T>(T) {
      order::with_operator(operation_of(p), [&]<class Op>(Op) {
        first_value_ = base::scalar_value::of(first_of<T, Op>(p));
        empty_value_ = base::scalar_value::of(empty_value<T, Op>(p));
      });
    });
  }

  void run() {
    const std::uint32_t long_segments = survey();
    queue_.launch_tiles(program_.kernel("tw_segments"), tiles_, group_size_, in_, in_first(), offsets_, offsets_first(),
                        memory(border_), first_value_, empty_value_, out_, out_first());
    if (long_segments == 0) return;
    const buffer values(queue_, window_room() * size_);
    for (unsigned level = 1; windows_on(level) != 0; ++level)
      queue_.launch_tiles(program_.kernel("tw_chunks"), windows_on(level), group_size_, in_, in_first(), p_.n(), level,
                          offsets_, offsets_first(), memory(owner_), memory(values));
    queue_.launch_tiles(program_.kernel("tw_finish"), long_segments, group_size_, in_, in_first(), p_.n(),
                        memory(values), offsets_, offsets_first(), memory(long_segment_), first_value_, out_,
                        out_first());
  }

 private:
  std::uint64_t in_first() const { return in_.offset / size_; }
  std::uint64_t out_first() const { return out_.offset / size_; }
  std::uint64_t offsets_first() const { return offsets_.offset / sizeof(std::int64_t); }
  std::uint64_t windows_on(unsigned level) const { return p_.n() >> level * log_tile_; }
  std::uint64_t window_room() const {
    std::uint64_t room = 0;
    for (unsigned level = 1; windows_on(level) != 0; ++level) room += order::level_room(windows_on(level));
    return room;
  }

  /// Returns how many segments are long. Refuses offsets that are not those of segments.
  std::uint32_t survey() {
    const std::uint64_t to_clear = std::max<std::uint64_t>(window_room(), 2);
    queue_.launch_tiles(program_.kernel("tw_clear"), ceil_div(to_clear, group_size_), group_size_, memory(owner_),
                        window_room(), memory(found_));
    queue_.launch_tiles(program_.kernel("tw_survey"), ceil_div(segments_of(p_), group_size_), group_size_, offsets_,
                        offsets_first(), segments_of(p_), p_.n(), may_be_empty(p_) ? 1u : 0u, tiles_, most_long_,
                        memory(border_), memory(owner_), memory(long_segment_), memory(found_));
    struct {
      std::uint32_t fault, long_segments;
    } found{};
    queue_.download(&found, found_, sizeof found);
    if (found.fault != 0) refuse_offsets(segmentation_of(p_), offsets_, queue_);
    return found.long_segments;
  }

  const problem& p_;
  const memory in_, offsets_, out_;
  const std::size_t size_;
  const unsigned log_tile_, group_size_;
  const std::uint64_t tiles_, most_long_;
  backend::opencl::queue& queue_;
  backend::opencl::program& program_;
  const buffer border_, owner_, long_segment_, found_;
  base::scalar_value first_value_{}, empty_value_{};
};

void run(const problem& p, const registry::bindings& where, const tuning& t, backend::queue& on) {
  const auto [group_size, items] = t.of(registry::block_tree_axes);
  if (segments_of(p) == 0) return require_segments_on(segmentation_of(p), where.in[1], on);
  reduction(p, where, {group_size, items}, static_cast<backend::opencl::queue&>(on)).run();
}

std::string unsupported(const problem& p, const backend::device& on, const tuning& t) {
  const auto [group_size, items] = t.of(registry::block_tree_axes);
  const std::uint64_t lists = 4 * 64;  // of longer segments
  return backend::opencl::too_large(on.info(), group_size,
                                    order::block_tree{group_size, items}.tile() * size_of(p.type) + lists);
}

}  // namespace

std::vector<registry::variant> segment_reduce_opencl_variants() {
  return {{.algorithm = "segment_reduce",
           .backend = "opencl",
           .name = "",
           .types = all_dtypes,
           .source = "merge-based division of work: Merrill and Garland, Merge-based parallel SpMV, SC 2016",
           .tuning = registry::block_tree_axes,
           .unsupported = unsupported,
           .run = run}};
}

}  // namespace tilewise::impl::segment_reduce
