// SPDX-License-Identifier: Apache-2.0
// Waits for another thread without a lock.
#pragma once

#include <chrono>
#include <cstdint>
#include <thread>

namespace tilewise::backend::cpu {

/// How long to poll before sleeping. Waking up takes 40 us.
enum class patience : std::uint8_t {
  none,
  brief,   // about 10 us: longer than the gap between two calls in a loop, much shorter than a time slice
  lasting  // about 2 ms, for threads that wait for each other's devices
};

/// Polls about 10 us without giving up the core. Returns whether `ready` became true.
template <class Ready>
bool spin_briefly(Ready ready) {
  constexpr unsigned most_spins = 256;
  for (unsigned spins = 0; spins < most_spins; ++spins) {
    if (ready()) return true;
    __builtin_ia32_pause();
  }
  return ready();
}

/// Polls as long as `how_long` says; after the first 10 us only while no other thread wants the core. Returns whether
/// `ready` became true.
template <class Ready>
bool poll(Ready ready, patience how_long) {
  if (how_long == patience::none) return ready();
  if (spin_briefly(ready)) return true;
  if (how_long == patience::brief) return false;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
  while (std::chrono::steady_clock::now() < end) {
    if (ready()) return true;
    std::this_thread::yield();
  }
  return ready();
}

/// Polls until `ready` is true. Yields the core after a while, so that it also ends if there are more threads than
/// cores.
template <class Ready>
void spin_until(Ready ready) {
  while (!spin_briefly(ready)) std::this_thread::yield();
}

}  // namespace tilewise::backend::cpu
