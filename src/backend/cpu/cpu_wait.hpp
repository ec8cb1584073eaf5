// Waiting for another thread without a lock.
#pragma once

#include <thread>

namespace tilewise::backend::cpu {

/// Asks again and again, for about 10 us: longer than a turn or the gap between two calls in a loop takes, much shorter
/// than a time slice. Returns whether `ready` said yes.
template <class Ready>
bool spin_briefly(Ready ready) {
  for (unsigned spins = 0; spins < 256; ++spins) {
    if (ready()) return true;
    __builtin_ia32_pause();
  }
  return ready();
}

/// Returns when `ready` says yes. Gives the core away after a while, so that it also ends where more threads run than
/// there are cores.
template <class Ready>
void spin_until(Ready ready) {
  while (!spin_briefly(ready)) std::this_thread::yield();
}

}  // namespace tilewise::backend::cpu
