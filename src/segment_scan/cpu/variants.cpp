// SPDX-License-Identifier: Apache-2.0
// What:   segment_scan on the CPU.
// Order:  blocks are counted from each segment's begin.
// Shape:  tiles of segments, one after another on a worker. Segments much longer than a tile wait until all tiles are
//         done; each is then a scan, which all workers share.
// Limits: none; works in place.
// Twins:  serial.cpp; the kernels are in kernels.cpp, reduce/cpu/kernels.cpp and scan/cpu/kernels.cpp.
#include "reduce/cpu/kernels.hpp"
#include "registry/variant.hpp"
#include "scan/cpu/kernels.hpp"
#include "segment_reduce/cpu/tiles.hpp"
#include "segment_scan/cpu/kernels.hpp"
#include "segment_scan/problem.hpp"

#include <mutex>

namespace tilewise::impl::segment_scan {

namespace {

using registry::problem;

template <class T, class Op>
class scan_of_segments {
 public:
  scan_of_segments(const problem& p, const registry::bindings& where, const registry::tuning& tuning,
                   backend::cpu::queue& queue)
      : p_(p),
        where_(where),
        tuning_(tuning),
        queue_(queue),
        offsets_(offsets_of(p, where)),
        of_{where.in[0].as<const T>(), offsets_.data(), where.out[0].as<T>(), first_of<T, Op>(p), !is_exclusive(p)},
        tile_(segment_reduce::tile_for(segmentation_of(p), std::get<0>(tuning.of(scan::cpu_axes)), queue)) {}

  void run() {
    const backend::buffer scratch(queue_, queue_.threads() * slot() * sizeof(T));
    segment_reduce::for_each_tile(segmentation_of(p_), offsets_, tile_, queue_,
                                  [&](std::uint64_t s, std::uint64_t end, unsigned worker) {
                                    scan_segments(s, end, scratch.as<T>() + worker * slot());
                                  });
    for (const std::uint64_t s : long_) scan_long(s);
  }

 private:
  std::uint64_t slot() const { return up_.scratch_elements(2 * tile_); }
  std::uint64_t length_of(std::uint64_t s) const { return static_cast<std::uint64_t>(offsets_[s + 1] - offsets_[s]); }

  void scan_segments(std::uint64_t s, std::uint64_t end, T* levels) {
    for (; (s = short_.short_segments(of_, s, end)) < end; ++s) {
      const std::uint64_t n = length_of(s);
      if (n > 2 * tile_) {
        const std::lock_guard lock(adding_);
        long_.push_back(s);
        continue;
      }
      up_.upsweep(of_.x + offsets_[s], n, levels);
      down_.downsweep(of_.x + offsets_[s], of_.y + offsets_[s], n, levels,
                      {.carry = Op::template identity<T>(), .init = of_.first, .inclusive = of_.inclusive});
    }
  }

  void scan_long(std::uint64_t s) const {
    const std::uint64_t n = length_of(s), at = static_cast<std::uint64_t>(offsets_[s]) * sizeof(T);
    registry::bindings here;
    here.in = {where_.in[0].at(at, n * sizeof(T))};
    here.out[0] = where_.out[0].at(at, n * sizeof(T));
    scan::run_on_cpu(scan_of(p_, n), here, tuning_, queue_);
  }

  const problem& p_;
  const registry::bindings& where_;
  const registry::tuning& tuning_;
  backend::cpu::queue& queue_;
  const std::span<const std::int64_t> offsets_;
  const segments<T> of_;
  const std::uint64_t tile_;
  const reduce::cpu_kernels<T>& up_ = reduce::kernels_for<T>(queue_.level(), Op::id);
  const scan::cpu_kernels<T>& down_ = scan::kernels_for<T>(queue_.level(), Op::id);
  const cpu_kernels<T>& short_ = kernels_for<T>(queue_.level(), Op::id);
  std::mutex adding_;
  std::vector<std::uint64_t> long_;  // in any order: none depends on another
};

void run(const problem& p, const registry::bindings& where, const registry::tuning& t, backend::queue& q) {
  auto& queue = static_cast<backend::cpu::queue&>(q);
  segment_reduce::require_segments(segmentation_of(p), offsets_of(p, where), queue);
  with_type(p.type, [&]<class T>(T) {
    order::with_operator(operation_of(p), [&]<class Op>(Op) { scan_of_segments<T, Op>(p, where, t, queue).run(); });
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
