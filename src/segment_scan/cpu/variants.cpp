// SPDX-License-Identifier: Apache-2.0
// What:   segment_scan on the CPU.
// Order:  blocks are counted from each segment's begin.
// Shape:  tiles of segments, one after another on a worker; results that exceed the caches are written past them.
//         Segments longer than a worker's share wait until all tiles are done; each is then a scan, which all share.
// Limits: none; works in place.
// Twins:  serial.cpp; the kernels are in kernels.cpp, reduce/cpu/kernels.cpp and scan/cpu/kernels.cpp.
#include "backend/cpu/kernels.hpp"
#include "reduce/cpu/kernels.hpp"
#include "registry/variant.hpp"
#include "scan/cpu/kernels.hpp"
#include "segment_reduce/cpu/tiles.hpp"
#include "segment_scan/cpu/kernels.hpp"
#include "segment_scan/problem.hpp"

#include <algorithm>
#include <mutex>

namespace tilewise::impl::segment_scan {

namespace {

using registry::problem;

/// As many elements as stay in a core's cache with their results.
constexpr std::int64_t stage_length = 4 * reduce::small_limit;

template <class T, class Op>
class scan_of_segments {
 public:
  scan_of_segments(const problem& p, const registry::bindings& where, std::uint64_t tile, backend::cpu::queue& queue)
      : p_(p),
        where_(where),
        queue_(queue),
        offsets_(offsets_of(p, where)),
        of_{where.in[0].as<const T>(), offsets_.data(), where.out[0].as<T>(), 0, first_of<T, Op>(p), !is_exclusive(p)},
        tile_(tile),
        most_alone_(std::max(2 * tile, std::min(queue.threads() * tile, p.n() / queue.threads()))),
        stream_(scan::worth_streaming(where, p.n() * sizeof(T), queue)) {
    long_.reserve(p.n() / most_alone_);
  }

  void run() {
    const std::uint64_t levels = up_.scratch_elements(most_alone_), slot = levels + (stream_ ? stage_length : 0);
    const backend::buffer scratch(queue_, queue_.threads() * slot * sizeof(T));
    const segment_reduce::segmentation all = segmentation_of(p_);
    segment_reduce::for_each_tile(all, offsets_, segment_reduce::tile_for(all, tile_, queue_), queue_,
                                  [&](std::uint64_t s, std::uint64_t end, unsigned worker) {
                                    T* const mine = scratch.as<T>() + worker * slot;
                                    scan_segments(s, end, mine, mine + levels);
                                  });
    for (const std::uint64_t s : long_) scan_long(s);
  }

 private:
  std::uint64_t length_of(std::uint64_t s) const { return static_cast<std::uint64_t>(offsets_[s + 1] - offsets_[s]); }

  void scan_segments(std::uint64_t s, std::uint64_t end, T* levels, T* stage) {
    for (;; ++s) {
      s = stream_ ? scan_short_past_caches(s, end, stage) : short_.short_segments(of_, s, end);
      if (s == end) return;
      const std::uint64_t n = length_of(s);
      if (n > most_alone_) {
        const std::lock_guard lock(adding_);
        long_.push_back(s);
        continue;
      }
      up_.upsweep(of_.x + offsets_[s], n, levels);
      down_.downsweep(
          of_.x + offsets_[s], of_.y + offsets_[s], n, levels,
          {.carry = Op::template identity<T>(), .init = of_.first, .inclusive = of_.inclusive, .stream = stream_});
    }
  }

  /// Like short_segments. The results of several segments are staged, since of one they are no whole lines of memory.
  std::uint64_t scan_short_past_caches(std::uint64_t s, std::uint64_t end, T* stage) const {
    while (s < end) {
      segments<T> staged = of_;
      staged.y = stage;
      staged.y_begin = offsets_[s];
      const auto first = offsets_.begin() + static_cast<std::ptrdiff_t>(s);
      const auto last = offsets_.begin() + static_cast<std::ptrdiff_t>(end) + 1;
      const auto fit = static_cast<std::uint64_t>(std::upper_bound(first, last, *first + stage_length) - first) - 1;
      const std::uint64_t done = short_.short_segments(staged, s, s + fit);
      backend::cpu::copy_streaming(queue_.level(), reinterpret_cast<char*>(of_.y + offsets_[s]),
                                   reinterpret_cast<const char*>(stage),
                                   static_cast<std::uint64_t>(offsets_[done] - offsets_[s]) * sizeof(T));
      if (done == s || done != s + fit) return done;
      s = done;
    }
    return end;
  }

  void scan_long(std::uint64_t s) const {
    const std::uint64_t n = length_of(s), at = static_cast<std::uint64_t>(offsets_[s]) * sizeof(T);
    registry::bindings here;
    here.in = {where_.in[0].at(at, n * sizeof(T))};
    here.out[0] = where_.out[0].at(at, n * sizeof(T));
    scan::run_on_cpu(scan_of(p_, n), here, tile_, stream_, queue_);
  }

  const problem& p_;
  const registry::bindings& where_;
  backend::cpu::queue& queue_;
  const std::span<const std::int64_t> offsets_;
  const segments<T> of_;
  const std::uint64_t tile_;
  const std::uint64_t most_alone_;  // elements of a segment that one worker scans: enough of them for all others
  const bool stream_;
  const reduce::cpu_kernels<T>& up_ = reduce::kernels_for<T>(queue_.level(), Op::id);
  const scan::cpu_kernels<T>& down_ = scan::kernels_for<T>(queue_.level(), Op::id);
  const cpu_kernels<T>& short_ = kernels_for<T>(queue_.level(), Op::id);
  std::mutex adding_;
  std::vector<std::uint64_t> long_;  // in any order: none depends on another
};

void run(const problem& p, const registry::bindings& where, const registry::tuning& t, backend::queue& q) {
  const auto [tile] = t.of(scan::cpu_axes);
  auto& queue = static_cast<backend::cpu::queue&>(q);
  segment_reduce::require_segments(segmentation_of(p), offsets_of(p, where), queue);
  with_type(p.type, [&]<class T>(T) {
    order::with_operator(operation_of(p), [&]<class Op>(Op) { scan_of_segments<T, Op>(p, where, tile, queue).run(); });
  });
}

}  // namespace

std::vector<registry::variant> segment_scan_cpu_variants() {
  return {{.algorithm = "segment_scan",
           .backend = "cpu",
           .name = "",
           .types = all_dtypes,
           .source = "merge-based division of work: Merrill and Garland, Merge-based parallel SpMV, SC 2016; G. E. "
                     "Blelloch, Prefix Sums and Their Applications (1990)",
           .tuning = scan::cpu_axes,
           .run = run}};
}

}  // namespace tilewise::impl::segment_scan
