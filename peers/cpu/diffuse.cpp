// SPDX-License-Identifier: Apache-2.0
// What:   diffuse/cpu:hiperc and hiperc_openmp: HiPerC's program for one thread and its form for many. Fields are
//         pointers to rows; in each step the boundaries, the mask and the update are separate loops.
// Order:  its own, because taps of weight zero are multiplied too. Their products are zeros, so that a finite field
//         has the definition's bits.
// Shape:  three fields with ghosts, made from ours before the first step; OpenMP distributes their points.
// Limits: hiperc: cpu:serial, and what one thread computes within seconds. hiperc_openmp: any other CPU device.
// Twins:  diffuse/serial.cpp, tbb.cpp, opencl/diffuse.cl, cuda/diffuse.cu.
#include "peers/cpu/diffuse.hpp"

namespace tilewise::peers {

namespace {

/// One thread, or OpenMP's threads.
struct openmp_team {
  int threads;

  explicit openmp_team(const backend::cpu::queue& queue) : threads(static_cast<int>(queue.threads())) {}

  template <class F>
  void each_row(std::uint64_t begin, std::uint64_t end, F visit) const {
#pragma omp parallel for num_threads(threads)
    for (std::uint64_t j = begin; j < end; ++j) visit(j);
  }
  template <class F>
  void each_point(hiperc::range rows, hiperc::range columns, F visit) const {
#pragma omp parallel for collapse(2) num_threads(threads)
    for (std::uint64_t j = rows.begin; j < rows.end; ++j)
      for (std::uint64_t i = columns.begin; i < columns.end; ++i) visit(j, i);
  }
};

/// At this size a call on one thread takes several seconds, and a median takes a dozen calls.
constexpr double most_updates = 1 << 28;

std::string one_thread_unsupported(const registry::problem& p, const backend::device& on, const registry::tuning&) {
  const impl::diffuse::sizes s(p);
  if (s.is_band()) return "it steps whole fields";
  if (static_cast<double>(s.elements()) * static_cast<double>(s.steps) > most_updates)
    return "one call takes seconds at this size";
  return one_thread_only(on);
}

std::string openmp_unsupported(const registry::problem& p, const backend::device& on, const registry::tuning& t) {
  const std::string elsewhere = hiperc::threads_unsupported(p, on, t);
  return elsewhere.empty() ? limited_by({"OMP_THREAD_LIMIT"}) : elsewhere;
}

}  // namespace

std::vector<registry::variant> diffuse_variants() {
  return {hiperc::peer("hiperc", "HiPerC's serial program, rewritten", one_thread_unsupported,
                       hiperc::run_with<openmp_team>),
          hiperc::peer("hiperc_openmp", "HiPerC's program with OpenMP, rewritten", openmp_unsupported,
                       hiperc::run_with<openmp_team>)};
}

}  // namespace tilewise::peers
