// SPDX-License-Identifier: Apache-2.0
// What:   diffuse/cpu:hiperc_tbb: HiPerC's program with oneTBB.
// Order:  its own, as in diffuse.cpp: a finite field has the definition's bits.
// Shape:  three fields with ghosts, made from ours before the first step; oneTBB cuts them into rectangles.
// Limits: any CPU device but cpu:serial.
// Twins:  diffuse/serial.cpp, diffuse.cpp.
#include "peers/cpu/diffuse.hpp"

#include <oneapi/tbb/blocked_range2d.h>
#include <oneapi/tbb/parallel_for.h>

namespace tilewise::peers {

namespace {

struct tbb_team {
  backend::queue& queue;

  explicit tbb_team(backend::queue& on) : queue(on) {}

  template <class F>
  void each_row(std::uint64_t begin, std::uint64_t end, F visit) const {
    in_tbb_arena(queue, [&] { tbb::parallel_for(begin, end, visit); });
  }
  template <class F>
  void each_point(hiperc::range rows, hiperc::range columns, F visit) const {
    using rectangle = tbb::blocked_range2d<std::uint64_t>;
    const auto work = [=](const rectangle& r) {
      for (std::uint64_t j = r.rows().begin(); j != r.rows().end(); ++j)
        for (std::uint64_t i = r.cols().begin(); i != r.cols().end(); ++i) visit(j, i);
    };
    in_tbb_arena(queue, [&] { tbb::parallel_for(rectangle(rows.begin, rows.end, columns.begin, columns.end), work); });
  }
};

}  // namespace

std::vector<registry::variant> diffuse_tbb_variants() {
  return {hiperc::peer("hiperc_tbb", "HiPerC's program with Threading Building Blocks, rewritten",
                       hiperc::threads_unsupported, hiperc::run_with<tbb_team>)};
}

}  // namespace tilewise::peers
