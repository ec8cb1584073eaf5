// Waiting for another thread without a lock.
#pragma once

#include <thread>

namespace tilewise::backend::cpu {

/// About 10 us: longer than a turn or the gap between two calls in a loop, much shorter than a time slice.
inline constexpr unsigned brief_spins = 256;
/// About 2 ms, for threads that wait for one another's devices: a sleeper takes 40 us to wake, a twentieth of that.
inline constexpr unsigned long_spins = 200 * brief_spins;

/// Polls, by default briefly. Returns whether `ready` became true.
template <class Ready>
bool spin_briefly(Ready ready, unsigned most_spins = brief_spins) {
  for (unsigned spins = 0; spins < most_spins; ++spins) {
    if (ready()) return true;
    __builtin_ia32_pause();
  }
  return ready();
}

/// Returns when `ready` is true. Yields the core after a while, so that it also returns where more threads run than
/// there are cores.
template <class Ready>
void spin_until(Ready ready) {
  while (!spin_briefly(ready)) std::this_thread::yield();
}

}  // namespace tilewise::backend::cpu
