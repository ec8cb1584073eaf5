// SPDX-License-Identifier: Apache-2.0
#include "lab/time/sampler.hpp"

#include "lab/bench/agreement.hpp"
#include "lab/time/clock.hpp"

#include <algorithm>
#include <array>

namespace tilewise::lab {

namespace {

bool agree(const std::array<double, 3>& times) {
  const auto [lo, hi] = std::minmax_element(times.begin(), times.end());
  return *lo > 0 && *hi <= 1.05 * *lo;
}

}  // namespace

calibration warm_up(const contender& who, double max_ns) {
  const double long_enough =
      std::max(shortest_sample_ns, shortest_sample_ticks * as_first_rank(static_cast<double>(clock_resolution_ns())));
  constexpr std::uint64_t most_calls = std::uint64_t{1} << 24;  // a call of nothing must end as well
  calibration found;
  double spent = 0, last = 0;
  const auto sample = [&] {
    if (who.prepare) who.prepare();
    last = who.time(found.calls_per_sample);
    spent += last;
    if (who.after) who.after();
  };
  sample();
  while (!who.one_call && last < long_enough && found.calls_per_sample < most_calls && spent < max_ns) {
    found.calls_per_sample *= 2;
    sample();
  }
  std::array<double, 3> recent{0, 0, last};
  while (!agree(recent) && spent < max_ns) {
    sample();
    std::rotate(recent.begin(), recent.begin() + 1, recent.end());
    recent[2] = last;
  }
  found.ns_per_call = last / static_cast<double>(found.calls_per_sample);
  return found;
}

}  // namespace tilewise::lab
