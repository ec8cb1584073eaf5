#include "backend/cpu/cpu_device.hpp"
#include "backend/cpu/cpu_fma_kernels.hpp"

#include <atomic>
#include <cstring>

namespace tilewise::backend::cpu {

double queue::multiply_add(dtype type) {
  // About 100 us per piece, and several pieces per thread, so that a late starter costs little.
  constexpr std::uint64_t steps = 1 << 13, pieces_a_thread = 8;
  const chains_function run = chains_of(level_, type);
  std::atomic<double> operations{0};
  for_each_tile(threads_ * pieces_a_thread, [&](std::uint64_t, unsigned) {
    alignas(64) std::byte operands[64];
    with_type(type, [&]<class T>(T) {
      const T values[2]{static_cast<T>(0.5), 3};
      std::memcpy(operands, values, sizeof values);
    });
    operations += run(steps, operands);
  });
  return operations;
}

}  // namespace tilewise::backend::cpu
