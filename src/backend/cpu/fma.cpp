// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/device.hpp"
#include "backend/cpu/fma_kernels.hpp"
#include "backend/roofs.hpp"

#include <atomic>
#include <cstring>

namespace tilewise::backend::cpu {

namespace {

double run_on_all(queue& on, chains_function run, dtype type) {
  // About 100 us per piece, and several pieces per thread, so that a late starter costs little.
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

}  // namespace tilewise::backend::cpu
