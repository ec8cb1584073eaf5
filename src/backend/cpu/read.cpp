// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/device.hpp"
#include "backend/cpu/read_kernels.hpp"
#include "backend/roofs.hpp"

#include <algorithm>
#include <atomic>

namespace tilewise::backend::cpu {

namespace {

/// A sum that is not looked at would not be computed.
std::atomic<std::uint64_t> seen{0};

constexpr std::uint64_t line = 512;  // that read_again reads at once

}  // namespace

double read(backend::queue& on, memory what) {
  auto& here = static_cast<queue&>(on);
  // A few milliseconds of a memory, and a hundred microseconds of the quickest cache.
  constexpr std::uint64_t bytes_a_thread = 16 << 20;
  const std::uint64_t slice = what.bytes / here.threads() / line * line;
  const std::uint64_t passes = std::max<std::uint64_t>(1, bytes_a_thread / std::max(slice, line));
  here.for_each_tile(here.threads(), [&](std::uint64_t tile, unsigned) {
    seen ^= read_again(here.level(), what.as<const char>() + tile * slice, slice, passes);
  });
  return static_cast<double>(slice * passes * here.threads());
}

std::uint64_t least_read(const device_info& on) { return std::uint64_t{4096} * std::max(1u, on.compute_units); }

}  // namespace tilewise::backend::cpu
