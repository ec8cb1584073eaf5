// SPDX-License-Identifier: Apache-2.0
#include "backend/roofs.hpp"

#include "backend/cpu/device.hpp"
#include "backend/cpu/kernels.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace tilewise::backend::cpu {

namespace {

double run_on_all(queue& on, chains_function run, dtype type) {
  // About 100 us per piece and several pieces per thread, so that a thread that starts late costs little time.
  constexpr std::uint64_t steps = 1 << 13, pieces_a_thread = 8;
  std::atomic<double> operations{0};
  on.for_each_tile(on.threads() * pieces_a_thread, [&](std::uint64_t, unsigned) {
    alignas(64) std::byte operands[64];
    with_type(type, [&]<class T>(T) {
      const T values[2]{static_cast<T>(0.5), 3};
      std::memcpy(operands, values, sizeof values);
    });
    operations += run(steps, operands);
  });
  return operations;
}

}  // namespace

double queue::multiply_add(dtype type) {
  return run_on_all(*this, chains_of(level_).fused[static_cast<unsigned>(type)], type);
}

double multiply_then_add(backend::queue& on, dtype type) {
  auto& here = static_cast<queue&>(on);
  return run_on_all(here, chains_of(here.level()).apart[static_cast<unsigned>(type)], type);
}

namespace {

/// Uses the results, so that the compiler keeps the reads.
std::atomic<std::uint64_t> seen{0};

constexpr std::uint64_t line = 512;  // bytes that read_again reads at once

}  // namespace

double read(backend::queue& on, memory what) {
  auto& here = static_cast<queue&>(on);
  // This takes a few milliseconds from memory, and a hundred microseconds from the fastest cache.
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
